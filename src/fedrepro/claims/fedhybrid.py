"""How the claims of Niu & Wei are measured."""

from fedrepro.claims import FAILED, PARTLY, REPRODUCED, Finding, spread


def H1(results):
    ends = results.ends("fedhybrid_setup1")
    rival = ends[ends.algorithm == "fedavg"].set_index("seed").gap
    ratios = {}
    for count, cells in ends[ends.algorithm == "fedh_k"].groupby("p_newton"):
        ratios[count] = cells.set_index("seed").gap / rival
    won = sum(int((r < 1).sum()) for r in ratios.values())
    total = sum(len(r) for r in ratios.values())
    return Finding("; ".join(f"K={k}: {spread(r, '{:.1e}')}" for k, r in ratios.items()),
                   REPRODUCED if won == total else PARTLY if won else FAILED, f"{won} of {total}")  # fmt: skip
