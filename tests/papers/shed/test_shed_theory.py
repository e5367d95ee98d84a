"""What a watched iteration says, beside the same worked out by hand."""

import numpy as np
import pytest

from fedrepro.algorithms.shed import shed
from fedrepro.papers.shed.problems import small_logistic
from fedrepro.papers.shed.theory import Iteration, lipschitz, smoothness

SETTING = {"n": 5, "agents": 3, "rows": 40, "mu": 0.05, "skew": True}


@pytest.fixture(scope="module")
def watched():
    """The problem, its reference, and every iteration of twelve with the point it began at."""
    problem = small_logistic(SETTING, 0, None)
    reference = problem.reference()
    agents, found = problem.clients(reference), []
    for x in (run := shed(agents, renewals="periodic", period=7)):
        found.append((agents.point, x, Iteration(agents, x, reference.optimum, reference.constants, 0.1)))
        if len(found) == 12:
            run.close()
            return problem, reference, found


def test_the_constants_bound_the_hessians(watched):
    problem, _, _ = watched
    X = problem.pooled.data.A[0]
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.standard_normal((2, 5))
        one, other = (problem.pooled.hessian(p[None])[0] for p in (a, b))
        assert np.linalg.norm(one - other, 2) <= lipschitz(X) * np.linalg.norm(a - b)
        assert np.linalg.norm(one, 2) <= smoothness(X, SETTING["mu"])


def test_an_iteration_knows_its_errors_and_what_was_shared(watched):
    problem, reference, found = watched
    start, _, first = found[0]
    assert first.error == pytest.approx(np.linalg.norm(reference.optimum))
    assert first.delay == 0 and first.outdated == first.error
    hessians = problem.costs.hessian(np.broadcast_to(start, (3, 5)))
    spectra = np.linalg.eigvalsh(hessians)[:, ::-1]
    assert first.smallest == pytest.approx(problem.weights @ spectra[:, -1])
    assert [i.complete for _, _, i in found] == [False] * 3 + [True] * 3 + [False] * 3 + [True] * 3
    steps = {round(i.step, 6) for _, _, i in found[:6]}
    assert steps <= {0.5**k for k in range(6)}


def test_conditions_grow_with_the_error(watched):
    _, _, found = watched
    far, near = found[0][2], found[5][2]
    assert near.error < far.error
    assert near.first_condition() < far.first_condition()
    assert near.second_condition() < far.second_condition()
