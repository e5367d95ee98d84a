"""What every algorithm found in fedrepro/algorithms must satisfy. A new file is tested without being listed."""

import inspect

import numpy as np
import pytest

from federations import D, quadratic_problem
from fedrepro import algorithms
from fedrepro.runner import run_cell

VALUES = {"epsilon": 0.5}  # hyper-parameters without a default, at a value that suits the small problems here
SLIPS = {"fedsplit_printed"}  # formulas as printed, kept to show that they fail


def found(*, needs_known=frozenset({"value", "gradient", "hessian", "prox"})):
    """Algorithms for smooth clients; those of other federations have contracts of their own."""
    return [name for name in algorithms.names() if algorithms.get(name).needs <= needs_known]


def params(function):
    return {n: VALUES[n] for n, p in algorithms.parameters(function).items() if p.default is p.empty}


def run(name, problem, rounds=8, reference=None):
    function = algorithms.get(name)
    ref = reference or problem.reference()
    return run_cell(function, problem, ref, params(function), {"rounds": rounds}, ("gap",))


def points(name, problem, rounds=6):
    clients = problem.clients(problem.reference())
    function = algorithms.get(name)
    generator = function(clients, **params(function))
    return [next(generator) for _ in range(rounds)]


def test_something_is_found():
    assert {"fedgd", "fedprox", "fedsplit", "fedsplit_regularised"} <= set(found())


@pytest.mark.parametrize("name", algorithms.names())
def test_is_documented_and_keyword_only(name):
    function = algorithms.get(name)
    assert inspect.isgeneratorfunction(function)
    assert inspect.getdoc(inspect.getmodule(function)), (
        f"algorithms/{name}.py needs a docstring citing the paper"
    )
    first, *rest = inspect.signature(function).parameters.values()
    assert first.kind is first.POSITIONAL_OR_KEYWORD  # the federation: clients, or agents where a paper says so
    assert all(p.kind is p.KEYWORD_ONLY for p in rest)


@pytest.mark.parametrize("name", found())
def test_same_seed_gives_a_bit_identical_trace(name):
    one, two = (run(name, quadratic_problem())[0] for _ in range(2))
    for column in one.columns:
        if column != "seconds":
            assert np.array_equal(one.columns[column], two.columns[column], equal_nan=True), column


@pytest.mark.parametrize("name", found())
def test_ledger_never_decreases(name):
    trace, _ = run(name, quadratic_problem())
    for column in (
        "floats_up",
        "floats_down",
        "messages",
        "exchanges",
        "gradients",
        "hessians",
        "proxes",
        "seconds",
    ):
        assert np.all(np.diff(trace.columns[column]) >= 0), column


@pytest.mark.parametrize("name", sorted(set(found()) - SLIPS))
def test_a_shared_minimiser_is_a_fixed_point(name):
    problem = quadratic_problem(shared_minimiser=True)
    best = problem.reference()["x"]
    problem.start = best
    reference = problem.reference() | {"D2": 1.0}
    clients = problem.clients(reference)
    function = algorithms.get(name)
    rounds = function(clients, **params(function))
    for _ in range(5):
        np.testing.assert_allclose(next(rounds), best, atol=1e-9)


@pytest.mark.parametrize("name", sorted(SLIPS))
def test_a_slip_loses_the_shared_minimiser(name):
    problem = quadratic_problem(shared_minimiser=True)
    problem.start = problem.reference()["x"]
    assert np.abs(points(name, problem)[-1] - problem.start).max() > 1e-3


@pytest.mark.parametrize("name", found())
def test_copies_of_one_client_are_that_client(name):
    """m equal clients must move exactly as one of them would alone: averaging adds nothing."""
    alone = quadratic_problem(m=1, copies=True)
    several = quadratic_problem(m=3, copies=True)
    if name == "fedsplit_regularised":  # its regularisation is defined by m: give both the same
        several.reference = lambda: type(several).reference(several) | {"D2": alone.reference()["D2"] / 3}
    for one, three in zip(points(name, alone), points(name, several), strict=True):
        np.testing.assert_allclose(three, one, rtol=1e-9, atol=1e-10)


# --- with one client, the centralised method ---


def gradient_descent(G, c, constants):
    x = np.zeros(D)
    while True:
        x = x - (G @ x - c) / constants["L*"]
        yield x


def proximal_point(G, c, constants):
    s = 1 / np.sqrt(constants["l*"] * constants["L*"])
    x = np.zeros(D)
    while True:
        x = np.linalg.solve(np.eye(D) + s * G, x + s * c)
        yield x


def reflected_proximal_point(G, c, constants):
    """Peaceman–Rachford with one operator: x ← 2 prox(x) − x."""
    s = 1 / np.sqrt(constants["l*"] * constants["L*"])
    x = np.zeros(D)
    while True:
        x = 2 * np.linalg.solve(np.eye(D) + s * G, x + s * c) - x
        yield x


CENTRALISED = {"fedgd": gradient_descent, "fedprox": proximal_point, "fedsplit": reflected_proximal_point}


@pytest.mark.parametrize("name", CENTRALISED)
def test_one_client_gives_the_centralised_method(name):
    problem = quadratic_problem(m=1)
    twin = CENTRALISED[name](problem.costs.G[0], problem.costs.c[0], problem.reference())
    for ours in points(name, problem):
        np.testing.assert_allclose(ours, next(twin), rtol=1e-9, atol=1e-11)
