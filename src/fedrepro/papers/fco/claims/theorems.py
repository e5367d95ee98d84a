"""The theorems of section 4 with the appendix's constants: measured gaps over their bounds, the largest over all rounds."""

import numpy as np

from fedrepro.experiments.registry import claim, evidence
from fedrepro.papers.fco import theory
from fedrepro.papers.fco.readings import MIRROR, bound_cells, local_bound
from fedrepro.reporting.evidence import row

ANY = "any"


def largest(values, bound, choices, part):
    """A row for a cell: the largest of values over bounds."""
    about = {k: choices[k] for k in ("loss", "gradients")}
    about |= {"client_rate": choices["share"], "local_steps": choices["local steps"]}
    about |= {"FedMiD": MIRROR[choices["algorithm"]]} if choices["algorithm"] in MIRROR else {}
    return row(np.max(values / bound), seed=choices["seed"], part=part, origin=choices["origin"], **about)


@claim("C28")
def C28(results):
    """Theorem F.1: the gap of the mean of the server's points over its bound at the smallest client rate, for FedDualAvg and
    for FedMiD, as printed and regularised once."""
    cells = list(bound_cells(results, "fco_small_rates"))
    smallest = min((choices["share"] for choices, _, _ in cells), key=float)
    for choices, c, rows in cells:
        if choices["share"] == smallest:
            bound = theory.small_rate_bound(c, choices["product"], rows["round"].to_numpy(float))
            part = "FedMiD" if choices["algorithm"] in MIRROR else "FedDualAvg"
            yield largest(rows.server_gap.to_numpy(), bound, choices, part)


def local(results, loss):
    """Cells of FedDualAvg on one loss, with a server rate of one."""
    for choices, c, rows in bound_cells(results, "fco_local_steps"):
        if choices["algorithm"] == "feddualavg" and loss in (choices["loss"], ANY):
            yield choices, c, rows, rows["round"].to_numpy(float)


@claim("C29")
def C29(results):
    """Theorem D.1: the gap of the mean of the shadow points over its bound on logistic losses, and the clients' distance from
    their mean over that of Lemma D.3."""
    for choices, c, rows, R in local(results, "logistic"):
        bound = local_bound(c, "logistic", choices["rate"], R)
        yield largest(rows.gap.to_numpy(), bound, choices, "gap")
        stability = theory.bounded_gradient_stability(c, choices["rate"])
        yield largest(rows.widest_inside.to_numpy(), stability, choices, "stability")


@claim("C30")
def C30(results):
    """Theorem E.1: the gap of the mean of the shadow points over its bound on quadratics."""
    for choices, c, rows, R in local(results, "quadratic"):
        yield largest(rows.gap.to_numpy(), local_bound(c, "quadratic", choices["rate"], R), choices, "gap")


@claim("C31")
def C31(results):
    """Lemma D.2: the gap over its bound with the discrepancy measured; Lemma E.2: the largest squared distance of the clients
    from their mean on quadratics over its bound."""
    for choices, c, rows, R in local(results, ANY):
        bound = theory.shadow_bound(c, choices["rate"], R, rows.apart.to_numpy())
        yield largest(rows.gap.to_numpy(), bound, choices, "shadow")
        if choices["loss"] == "quadratic":
            stability = theory.quadratic_stability(c, choices["rate"])
            yield largest(rows.widest.to_numpy(), stability, choices, "stability")


@evidence()
def regularised_twice(results):
    """How far above the optimum FedMiD ends, as printed and regularised once, beside the optimum of twice the penalty."""
    table, ends = results.reference("fco_small_rates"), {}
    for choices, _, rows in bound_cells(results, "fco_small_rates"):
        if choices["gradients"] == "in full":
            ends.setdefault((choices["loss"], choices["algorithm"]), []).append(rows.last_gap.iloc[-1])
    twice = {}
    for (setting, _), ref in table.items():
        twice.setdefault("quadratic" if "quadratic" in setting else "logistic", []).append(ref.facts["twice"])
    words = []
    for loss, gaps in sorted(twice.items()):
        printed, once = (np.median(ends[loss, name]) for name in ("fedmid", "fedmid_once"))
        words.append(
            f"{loss} losses: FedMiD ends {printed:.2g} above the optimum, {once:.2g} when it regularises once; the "
            f"optimum of twice the penalty lies {np.median(gaps):.2g} above"
        )
    return "; ".join(words)
