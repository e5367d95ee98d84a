"""What the arena's three facts are measured by."""

import numpy as np

from fedrepro.experiments.registry import claim
from fedrepro.papers.arena.readings import FINE, costs, kappa_of
from fedrepro.reporting.evidence import row


@claim("A1")
def A1(results):
    """The slope of the logarithm of ProxSkip's floats over that of the condition number, seed by seed."""
    table, refs = costs(results.traces("arena_known")), results.reference("arena_known")
    part = table[(table.algorithm == "proxskip") & (table.target == FINE)]
    for seed, cells in part.groupby("seed"):
        kappa = [kappa_of(refs, setting, seed) for setting in cells.setting]
        yield row(np.polyfit(np.log(kappa), np.log(cells.trips), 1)[0], seed=seed)


@claim("A2")
def A2(results):
    """Where the two end on the problem with the smallest condition number."""
    refs, ends = results.reference("arena_known"), results.ends("arena_known")
    rows = results.traces("arena_known")
    easiest = min({setting for setting, _ in refs}, key=lambda s: kappa_of(refs, s, 0))
    for part, name in (("SCAFFOLD", "scaffold"), ("FedAvg", "fedgd_local")):
        for cell in ends[(ends.algorithm == name) & (ends.setting == easiest)].itertuples():
            same = (rows.algorithm == name) & (rows.setting == easiest) & (rows.seed == cell.seed)
            yield row(cell.gap / rows[same].gap.iloc[0], seed=cell.seed, part=part)


@claim("A3")
def A3(results):
    """Iterations of SHED with all eigenvectors, on every condition number."""
    ends = results.ends("arena_known")
    for cell in ends[ends.algorithm == "shed_full"].itertuples():
        yield row(cell.round, seed=cell.seed, problem=cell.setting)
