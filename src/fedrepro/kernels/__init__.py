"""Compiled inner loops (numba), each beside a plain NumPy twin that its test holds it to."""
