"""Every method of Niu & Wei's comparison is tuned with the same budget."""

import numpy as np

from fedrepro.algorithms.fedgd import fedgd
from fedrepro.algorithms.fedhybrid import fedhybrid
from fedrepro.experiments import tuning
from fedrepro.experiments.reference import Reference
from fedrepro.papers.fedhybrid import problems

SETTING = {"n": 6, "d": 4, "sigma": 0.5, "rho": 0.1, "points": 150, "horizon": 40}


def test_tuned_fedavg_has_the_optimal_stepsize_and_a_mixed_method_every_parameter():
    problem = problems.synthetic_least_squares(SETTING, 0)
    ref = problem.reference()
    step = problem.choose(fedgd, {"step": [1e-4, 1]}, ref)["step"]
    ideal = 2.0 / (ref.constants["l_F"] + ref.constants["L_F"])  # of the averaged objective
    assert 0.7 * ideal < step < 2.0 / ref.constants["L_F"] or step == 1.0
    ranges = {"mu": [1e-4, 10], "a": [1e-4, 1], "b": "like a", "newton_b": [1e-4, 1]}
    chosen = problem.choose(fedhybrid, {"newton": "half"} | ranges, ref)
    assert all(isinstance(chosen[name], float) for name in ranges)
    run = fedhybrid(problem.clients(ref), **chosen)
    gaps = [problem.costs.gap(next(run), ref.optimum) for _ in range(40)]
    assert gaps[-1] < 0.5 * problem.costs.gap(problem.start, ref.optimum)


def test_nothing_to_tune_leaves_the_parameters_alone():
    problem = problems.synthetic_least_squares(SETTING, 0)
    assert problem.choose(fedgd, {"step": 0.5}, Reference()) == {"step": 0.5}


def test_a_winner_on_a_logistic_problem_goes_on_falling_exactly_and_not_on_the_model_alone():
    setting = {"n": 5, "d": 4, "rho": 0.3, "points": 120, "horizon": 20}
    problem = problems.synthetic_logistic(setting, 1)
    ref = problem.reference()
    ranges = {"mu": [1e-4, 10], "a": [1e-4, 1], "b": [1e-4, 1], "newton_b": [1e-4, 1]}
    chosen = problem.choose(fedhybrid, {"newton": 2} | ranges, ref)
    run = fedhybrid(problem.clients(ref), **chosen)
    gaps = np.array([problem.costs.gap(problem.start, ref.optimum)]
                    + [problem.costs.gap(next(run), ref.optimum) for _ in range(200)])  # fmt: skip
    assert tuning.lasting(gaps[:, None], 20)[0]
    assert gaps[-1] < 0.1 * gaps[0]
