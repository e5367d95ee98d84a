"""`make bench`: every benchmark of this folder, as ratios measured in this very run.

A benchmark is a module with `run() -> list[dict]`, each dict with name, ours, plain, ratio and target.
"""

import importlib
import os
import sys
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # as every job of the pipeline

HERE = Path(__file__).parent


def main(chosen: list[str]) -> int:
    sys.path.insert(0, str(HERE))
    names = chosen or sorted(p.stem for p in HERE.glob("*.py") if p.stem != "run")
    print(f"{'benchmark':62} {'ours':>14} {'plain':>14} {'ratio':>8}  target")
    for name in names:
        for row in importlib.import_module(name).run():
            print(
                f"{row['name']:62} {row['ours']:>14} {row['plain']:>14} {row['ratio']:8.2f}  {row['target']}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
