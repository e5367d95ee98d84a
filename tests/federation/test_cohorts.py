"""Cohorts: a local step of one's own is what the compiled walks do, and is counted as they are."""

import numpy as np
import pytest

from fedrepro.federation.cohorts import SampledClients, Sampling
from fedrepro.maths.models.images import Dense
from fedrepro.maths.models.linear import LinearModel
from fedrepro.maths.proxes import L1, OnBlocks
from fedrepro.maths.seeds import stream

SIZES, D, RATE = (7, 20, 11, 5), 6, 0.02
COUNTED = ("samples", "local_steps", "proxes")


def linear(X, y):
    return LinearModel("squared", X, X[:, 0] + y), (slice(0, D),)


def softmax(X, y):
    model = Dense(X, y, (D, 3))
    return model, model.kernels


def network(X, y):
    model = Dense(X, y, (D, 5, 3))
    return model, model.kernels


def cohort_of(make):
    """Three of four clients of unequal sizes, in batches of 4; and where they start."""
    rng = stream(0, "test")
    offsets = np.cumsum([0, *SIZES])
    model, kernels = make(rng.standard_normal((offsets[-1], D)), rng.integers(0, 3, offsets[-1]))
    start = 0.3 * rng.standard_normal(model.size)
    sampling = Sampling(offsets, count=3, batch=4, epochs=2, seed=0)
    clients = SampledClients(model, OnBlocks(L1(0.4), kernels), sampling, start)
    return clients.sample(), start, clients


def descent(w, gradient, primal, k):
    return primal(w - RATE * gradient(w), RATE)


def averaging(z, gradient, primal, k):
    return z - RATE * gradient(primal(z, 0.1 + RATE * k))


STEPS = {
    "mirror descent": (descent, lambda cohort, w, h: cohort.mirror_descent(w, RATE, h)),
    "dual averaging": (averaging, lambda cohort, z, h: cohort.dual_averaging(z, RATE, 0.1, h)),
}


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("make", [linear, softmax, network])
def test_own_steps_do_and_count_what_the_compiled_ones_do(make, name, smooth):
    step, walk = STEPS[name]
    (ours, start, a), (theirs, _, b) = cohort_of(make), cohort_of(make)
    h = a.mirror("euclidean").smooth if smooth else a.mirror("euclidean")
    found, wanted = ours.local_steps(ours.stack(start), step, h), walk(theirs, start, h)
    assert np.abs(wanted - start).max() > 1e-3
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    assert {k: a.ledger.row()[k] for k in COUNTED} == {k: b.ledger.row()[k] for k in COUNTED}


def test_a_step_with_two_gradients_counts_both():
    cohort, start, clients = cohort_of(linear)
    h = clients.mirror("euclidean").smooth
    cohort.local_steps(
        cohort.stack(start), lambda w, gradient, primal, k: w - RATE * gradient(w - RATE * gradient(w)), h
    )
    assert clients.ledger.samples == 2 * cohort.visit.lengths.sum()
    assert clients.ledger.local_steps == cohort.steps.sum() and clients.ledger.proxes == 0


def test_clients_start_from_states_of_their_own_and_these_may_have_several_rows():
    cohort, start, clients = cohort_of(linear)
    states = cohort.stack(np.stack([start, 0 * start])) + np.arange(3.0)[:, None, None]
    h = clients.mirror("euclidean")
    found = cohort.local_steps(states, lambda state, gradient, primal, k: state + np.array([[1.0], [k]]), h)
    np.testing.assert_allclose(found[:, 0] - states[:, 0], np.repeat(cohort.steps[:, None], D + 1, axis=1))
    ranks = cohort.steps * (cohort.steps - 1) / 2  # 0 + 1 + … : k counts a client's own steps
    np.testing.assert_allclose(found[:, 1] - states[:, 1], np.repeat(ranks[:, None], D + 1, axis=1))
    mean = cohort.average(found)
    np.testing.assert_allclose(mean[1], cohort.weights @ found[:, 1])
    assert clients.ledger.floats_up == 3 * 2 * (D + 1) and clients.ledger.messages == 3
    assert len(cohort.clients) == 3 and set(cohort.clients) <= set(range(4))
