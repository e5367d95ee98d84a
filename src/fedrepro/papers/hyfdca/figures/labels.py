"""Words that several figures have in common."""

from fedrepro.datasets.partition import read_grid

LOSS = r"$(P - P^\star)/P^\star$"


def title(rows, setting: str) -> str:
    """`MNIST: 20 clients (5 x 4), 50% available`; the mark of the figure has a dataset's full name."""
    down, across, fraction = read_grid(setting)
    name = rows.dataset.iloc[0].partition(",")[0]
    return f"{name}: {down * across} clients ({down} x {across}), {fraction:.0%} available"


def charged(charge: str, bits: float) -> str:
    """What encryption is charged as; `bits` is the length of the keys it was timed with."""
    words = {
        "none": "no encryption",
        "paillier, measured": f"Paillier, {bits:.0f} bits, measured",
        "ckks, measured": "CKKS, measured",
    }
    return words.get(charge, charge)
