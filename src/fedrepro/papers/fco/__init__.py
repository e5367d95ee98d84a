"""Federated composite optimization. Yuan, Zaheer & Reddi 2021."""
