"""How the claims of Yuan, Zaheer & Reddi 2021 are measured: by means over the last rounds, at the tuned rates."""

from fedrepro.claims import FAILED, REPRODUCED, Finding
from fedrepro.tuning import last_rounds, tail_means, winners, won


def C1(results):
    rows = results.traces("fco_lasso1")
    last = last_rounds(rows)
    best = winners(rows, "error", last)
    ends = tail_means(won(rows, best), ["f1", "density"], last, ["algorithm", "seed"])
    f1 = ends.f1.groupby("algorithm").mean()
    return Finding(str(f1.to_dict()), REPRODUCED if f1.idxmax() == "feddualavg" else FAILED, "")
