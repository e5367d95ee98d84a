"""How the claims of Dal Fabbro et al. are measured."""

from fedrepro.claims import FAILED, PARTLY, REPRODUCED, Finding, spread


def E1(results):
    ratios, always = [], True
    for experiment, block in (("shed_msd_iid", "shed_ls_rho"), ("shed_news", "shed_ls")):
        rows = results.traces(experiment)
        rows = rows[rows.algorithm == block]
        for _, cells in rows.groupby("seed"):
            by = {r: c.set_index("round").distance for r, c in cells.groupby("p_rho")}
            both = (by["optimal"] / by["next"]).dropna()[1:]
            both = both[by["next"].reindex(both.index) > 1e-10]  # above rounding
            ratios.append(float(both.median()))
            always &= bool((both <= 1 + 1e-9).all())
    best = max(ratios) <= 1 + 1e-9
    why = "median over rounds of the error with ρ* over the error with λ_{q+1}, by dataset and seed; " + (
        "never above one" if always else "above one at some rounds"
    )
    return Finding(f"ratio {spread(ratios)}", REPRODUCED if always else PARTLY if best else FAILED, why)
