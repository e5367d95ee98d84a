"""`make bench`: every benchmark of this folder in one table, as ratios measured in this very run.

A benchmark is a module with `run(small) -> list[dict]`, lines of `measuring.line`; `small` is for tests. Arguments name
the modules to run, all by default. Table and picture go to results/benchmarks, where the report finds them.
"""

import argparse
import importlib
import os
import sys
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # as every job of the pipeline

HERE = Path(__file__).resolve().parent
APART = ("__main__", "measuring", "scaling")


def shown(value: float | None, form: str = "{:.3g}") -> str:
    return "–" if value is None else form.format(value)


def main(given: list[str]) -> None:
    names = sorted(p.stem for p in HERE.glob("*.py") if p.stem not in APART)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", choices=[[], *names], default=[])
    parser.add_argument("--small", action="store_true", help="tiny sizes, whose ratios mean nothing")
    parser.add_argument("--folder", type=Path, default=HERE.parent / "results/benchmarks")
    words = parser.parse_args(given)
    rows = []
    print(f"{'seconds of processor time':58} {'ours':>9} {'plain':>9} {'ratio':>7} {'bound':>9} {'share':>6}")
    for name in words.modules or names:
        for row in importlib.import_module(name).run(words.small):
            rows.append({"benchmark": name} | row)
            print(f"{row['what']:58} {shown(row['ours']):>9} {shown(row['plain']):>9} {shown(row['ratio']):>7} "
                  f"{shown(row['bound']):>9} {shown(row['share'], '{:.0%}'):>6}  {row['bound_is']}", flush=True)  # fmt: skip

    from measuring import keep

    from fedrepro.reporting import benchmarks

    keep(rows, words.folder / "bench.csv", benchmarks.bench)


if __name__ == "__main__":
    main(sys.argv[1:])
