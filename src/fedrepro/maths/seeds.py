"""Random streams by named axis.

Every draw names what it is for, so that all algorithms of a cell see the same data and adding a draw
somewhere leaves every other stream as it was.
"""

import hashlib

import numpy as np


def stream(seed: int, *axis: str) -> np.random.Generator:
    """The generator of one axis, e.g. `stream(3, "data", "fig1")`."""
    digest = hashlib.sha256("/".join(axis).encode()).digest()
    return np.random.default_rng(
        np.random.SeedSequence([seed, *np.frombuffer(digest[:16], np.uint32).tolist()])
    )
