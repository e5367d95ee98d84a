"""What two runs may differ in: clocks, and what fresh noise explains; nothing else."""

import pandas as pd
import pytest
from bits import NOISE, differences

ROW = {"setting": ["cipher=none", "cipher=ckks"], "gap": [0.5, 0.25], "round": [1, 1], "seconds": [0.1, 0.2]}
NAME = "traces/some/hyfdca.parquet"


@pytest.mark.parametrize(
    "column, at, by, told",
    [
        ("seconds", 0, 9.0, []),
        ("gap", 0, 1e-15, [NAME]),
        ("gap", 1, 0.1 * NOISE, []),
        ("gap", 1, 10 * NOISE, [NAME]),
        ("round", 1, 1, [NAME]),
    ],
)
def test_clocks_and_noise_may_differ(tmp_path, column, at, by, told):
    for folder, more in (("one", 0), ("other", by)):
        rows = pd.DataFrame(ROW)
        rows.loc[at, column] += more
        (tmp_path / folder / NAME).parent.mkdir(parents=True)
        rows.to_parquet(tmp_path / folder / NAME)
    assert differences(tmp_path / "one", tmp_path / "other") == told
