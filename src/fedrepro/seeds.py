"""Random streams: one independent generator per seed and named axis."""

import hashlib

import numpy as np


def stream(seed: int, *axis: str) -> np.random.Generator:
    """The generator of this seed and axis, e.g. stream(0, "partition", "mnist", "iid")."""
    digest = hashlib.sha256("/".join(axis).encode()).digest()
    return np.random.default_rng(
        np.random.SeedSequence([seed, *np.frombuffer(digest[:16], np.uint32).tolist()])
    )
