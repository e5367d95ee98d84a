"""Compiled inner loops (numba), each beside a plain NumPy twin that its test holds it to.

Numba keeps compiled loops between runs but does not notice when a function they call has changed in another file:
so what is kept lies in a folder named by the hash of all kernels.
"""

import hashlib
from pathlib import Path

from numba import config

_here = Path(__file__).parent
_digest = hashlib.sha256(b"\0".join(p.read_bytes() for p in sorted(_here.glob("*.py")))).hexdigest()[:16]
config.CACHE_DIR = str(Path(config.CACHE_DIR or _here / "__pycache__", _digest))
