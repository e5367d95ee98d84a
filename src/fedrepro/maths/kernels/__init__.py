"""Compiled inner loops (numba), each held to plain NumPy by its test.

Numba keeps compiled loops between runs but does not notice when a function they call has changed in another file:
so what is kept lies in a folder named by the hash of all kernels, and holds for every copy of them.

A kernel that calls another carries a copy of it, and which of two copies runs depends on what a process loaded or compiled
before. So a sum whose order the compiler may choose (`reassoc`) is in a kernel that nothing compiled calls, or in one that is
always inlined (`forceinline`): the process that compiles and those that load what it kept then give the same bits.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from numba import config
from numba.core.caching import UserProvidedCacheLocator

_here = Path(__file__).parent
_digest = hashlib.sha256(b"\0".join(p.read_bytes() for p in sorted(_here.glob("*.py")))).hexdigest()[:16]


def _folder(*places: Path) -> Path:
    """The first of these that can be written, and was made by us or by the owner of the code."""
    for place in places:
        folder = place / _digest
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK) and folder.stat().st_uid in (os.getuid(), _here.stat().st_uid):
                break
        except OSError:
            continue
    return folder


config.CACHE_DIR = str(
    _folder(
        Path(config.CACHE_DIR or _here / "__pycache__"),
        Path(tempfile.gettempdir(), f"fedrepro-{os.getuid()}"),
    )
)


class ByContent(UserProvidedCacheLocator):
    """Numba files what it keeps by where the source lies; the folder above says already what it is."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file):
        return "" if Path(py_file).parent == _here else super().get_suitable_cache_subpath(py_file)


config.CACHE_LOCATOR_CLASSES = f"{__name__}.{ByContent.__name__}"
