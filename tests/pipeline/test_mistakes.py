"""Configurations with a mistake in them: each is refused before anything runs, in one sentence that says where and what."""

import copy
import random
import shutil
import time
from functools import cache

import pytest
import yaml

from fedrepro.experiments.experiment import SCALES
from fedrepro.pipeline.config import ROOT, load
from fedrepro.pipeline.documents import ConfigError, read_yaml
from fedrepro.pipeline.plan import Plan
from project_copy import copy_project, snakemake

NAN, INF = float("nan"), float("inf")
GONE = object()  # take the key away
FIG1, FIG3, FLAT = "experiments.fig1.", "experiments.fig3.", "experiments.theorem2."
SPLIT = "experiments.fig1.algorithms.fedsplit.parameters."


def entry(value=None, **more) -> dict:
    return ({} if more else {"value": value}) | more | {"source": "a test"}


# (file, dotted key, what it is set to, words of the refusal)
VALUES = [
    # a problem's parameters
    ("fedsplit", FIG1 + "parameters.start.value", "zerro", "fig1.parameters.start: 'zerro' is not one of zero, normal"),
    ("fedsplit", FIG1 + "parameters.start.value", True, "fig1.parameters.start: true is not one of zero, normal"),
    ("fedsplit", FIG1 + "parameters.sgima2", entry(1), "no parameter 'sgima2'"),
    ("fedsplit", FIG1 + "parameters.strat", entry("zero"), "no parameter 'strat'"),
    ("fedsplit", FIG1 + "parameters.m", GONE, "fig1.parameters: 'm' is missing: a whole number of at least 1"),
    ("fedsplit", FIG1 + "parameters.m.value", 0, "fig1.parameters.m: 0 is not a whole number of at least 1"),
    ("fedsplit", FIG1 + "parameters.m.value", -3, "-3 is not a whole number"),
    ("fedsplit", FIG1 + "parameters.m.value", 2.5, "2.5 is not a whole number"),
    ("fedsplit", FIG1 + "parameters.m.value", True, "true is not a whole number"),
    ("fedsplit", FIG1 + "parameters.m.value", None, "null is not a whole number"),
    ("fedsplit", FIG1 + "parameters.m.value", "25", "'25' is not a whole number of at least 1; YAML reads it as text"),
    ("fedsplit", FIG1 + "parameters.m.value", [25], "[25] is not a whole number"),
    ("fedsplit", FIG1 + "parameters.m.value", 10**30, "of at least 1; whole numbers end at 1,000,000,000"),
    ("fedsplit", FIG1 + "parameters.sigma2.value", 0, "sigma2: 0 is not a number above 0"),
    ("fedsplit", FIG1 + "parameters.sigma2.value", -0.25, "sigma2: -0.25 is not a number above 0"),
    ("fedsplit", FIG1 + "parameters.sigma2.value", "1e-2", "'1e-2' is not a number above 0; YAML reads it as text"),
    ("fedsplit", FIG1 + "parameters.sigma2.value", NAN, "experiments.fig1.parameters.sigma2.value: nan is not a finite"),
    ("fedsplit", FIG1 + "parameters.sigma2.quick", INF, "parameters.sigma2.quick: inf is not a finite number"),
    ("fedsplit", FIG3 + "parameters.kappa.grid", [1, NAN], "experiments.fig3.parameters.kappa.grid[1]: nan"),
    ("fedsplit", FIG3 + "parameters.kappa.grid", [10, 0.5], "fig3.parameters.kappa: 0.5 is not a number of at least 1"),
    ("fedsplit", FIG3 + "parameters.kappa.grid", [], "fig3.parameters.kappa.grid: is empty"),
    ("fedsplit", FIG3 + "parameters.kappa.grid", [10, 10], "lists 10 twice"),
    ("fedsplit", FIG3 + "parameters.kappa.grid", 10, "kappa.grid: 10 is not a list"),
    ("fedsplit", FIG3 + "parameters.kappa.smoke", 10, "kappa.smoke: 10 is not a list"),
    ("fedsplit", FIG3 + "parameters.kappa.smoke", [], "kappa.smoke: is empty"),
    ("fedsplit", FIG3 + "parameters.kappa.value", 10, "needs one of the keys value, grid, and only one"),
    ("fedsplit", FIG1 + "parameters.m", {"source": "B.1"}, "needs one of the keys value, grid, and only one"),
    ("fedsplit", FIG1 + "parameters.m", {"value": 25}, "parameters.m: the key 'source' is missing"),
    ("fedsplit", FIG1 + "parameters.m", 25, "parameters.m: 25 is not a mapping"),
    ("fedsplit", FIG1 + "parameters.m", {"setting": "n", "source": "x y"}, "unknown key 'setting'"),
    ("fedsplit", FIG1 + "parameters.m.vlaue", 3, "unknown key 'vlaue' at experiments.fig1.parameters.m"),
    ("fedsplit", FIG1 + "parameters.m.medium", 3, "unknown key 'medium'"),
    ("fedsplit", FLAT + "parameters.rank.value", 61, "rank: 61 is not a whole number of at least 1, and at most d"),
    ("fedsplit", "experiments.fig2b.parameters.heldout.value", 1, "heldout: 1 is not a number in (0, 1)"),
    ("fedhybrid", "experiments.unstated2.parameters.normalise.grid", ["standart"], "'standart' is not one of standard"),
    ("fedhybrid", "experiments.setup1.parameters.score", entry("fianl"), "score: 'fianl' is not one of decay, final"),
    ("fedhybrid", "experiments.setup1.parameters.points.value", 0, "points: 0 is not a whole number of at least 1"),
    ("fedhybrid", "experiments.setup2.parameters.n", GONE, "'n' is missing: the partition 'boston' takes"),
    ("fedhybrid", "experiments.setup2.parameters.n.value", 0, "2.parameters.n: 0 is not a whole number"),
    ("fedhybrid", "experiments.setup4.parameters.missing.value", "dorp", "missing: 'dorp' is not one of keep, drop"),
    ("fco", "experiments.lasso.parameters.loss.value", "sqared", "loss: 'sqared' is not one of squared, half"),
    ("fco", "experiments.lasso.parameters.ones.grid", [1025], "ones: 1025 is not a whole number of at least 1, and at most d"),
    ("fco", "experiments.lasso.parameters.cohort.value", 100, "cohort: 100 is not"),
    ("fco", "experiments.fmri_shape.parameters.volume.value", [40, 64], "volume: [40, 64] is not a list of 3"),
    ("fco", "experiments.fmri_shape.parameters.runs.value", [], "runs: [] is not a list of a whole number of at least 1 each, not"),
    ("hyfdca", "experiments.mnist.parameters.clients.grid", ["5by4"], "clients: '5by4' is not row blocks x column blocks"),
    ("hyfdca", "experiments.mnist.parameters.clients.grid", ["5x4@1.5"], "'5x4@1.5' is not row blocks x"),
    ("hyfdca", "experiments.mnist.parameters.rows.value", "al", "rows: 'al' is not"),
    ("hyfdca", "experiments.mnist.parameters.tune.value.hyfdca", {"iner": [1]}, "parameters.tune.hyfdca: no parameter 'iner'"),
    ("hyfdca", "experiments.mnist.parameters.tune.value.hyfdca", {"inner": [0]}, "tune.hyfdca.inner: [0] is not a list of"),
    ("hyfdca", "experiments.mnist.parameters.tune.value.hyfdca", {"inner": [NAN]}, "tune.value.hyfdca.inner[0]: nan"),
    ("hyfdca", "experiments.mnist.parameters.tune.value.hyfcda", {}, "parameters.tune: no parameter 'hyfcda'; did you mean"),
    ("hyfdca", "experiments.mnist.parameters.tune_rounds", GONE, "parameters: 'tune_rounds' is missing"),
    ("hyfdca", "experiments.encrypted.parameters.cipher.grid", ["pailier"], "'pailier' is not one of none, paillier, ckks"),
    ("shed", "experiments.news.parameters.intercept.grid", [0, 1], "intercept: 0 is not true or false"),
    ("shed", "experiments.news.parameters.mu.grid", [0], "mu: 0 is not a number above 0"),
    ("shed", "experiments.fmnist_iid.parameters.centre", GONE, "parameters: 'centre' is missing: true or false"),
    # an algorithm's
    ("fedsplit", SPLIT + "step.value", "1/M*", "fedsplit.parameters.step: '1/M*' is not a stepsize"),
    ("fedsplit", SPLIT + "step.value", 0, "step: 0 is not a stepsize"),
    ("fedsplit", SPLIT + "step.value", "-1/L*", "'-1/L*' is not a stepsize"),
    ("fedsplit", SPLIT + "step.value", [0.1, 1], "step: [0.1, 1] is not a stepsize"),
    ("fedsplit", SPLIT + "prox", entry("exakt"), "prox: 'exakt' is not a whole number of at least 1 or one of exact, acc"),
    ("fedsplit", SPLIT + "prox", entry(0), "prox: 0 is not a whole number of at least 1 or"),
    ("fedsplit", SPLIT + "prox_start", entry("lsat"), "prox_start: 'lsat' is not one of point, last"),
    ("fedsplit", SPLIT + "stpe", entry(1), "'fedsplit' has no parameter 'stpe'; did you mean 'step'?"),
    ("fedsplit", "experiments.slips.algorithms.fedsplit_printed.parameters.slip.grid", ["eq14"], "'eq14' is not one of eq13"),
    ("fedsplit", FIG1 + "algorithms.fedgd.parameters.local_steps.grid", [0], "local_steps: 0 is not a whole number"),
    ("fedsplit", FIG1 + "algorithms.fedgd.parameters.local_steps.grid", [1.5], "local_steps: 1.5 is not a whole number"),
    ("fedsplit", FLAT + "algorithms.fedsplit_regularised.parameters.epsilon.grid", [-1], "epsilon: -1 is not a number above 0"),
    ("fedsplit", FLAT + "algorithms.fedsplit_regularised.parameters", GONE, "stop.below names 'epsilon', which is not set"),
    ("fedsplit", FIG1 + "algorithms.fedspilt", {}, "no algorithm 'fedspilt'; did you mean 'fedsplit'?"),
    ("fedsplit", FIG1 + "algorithms.fedgd.algorithm", "fedgd; rm", "'fedgd; rm' is not a valid name"),
    ("fedsplit", FIG1 + "algorithms.fed gd", {}, "'fed gd' is not a valid name; lower-case letters, digits and _"),
    ("fedsplit", FIG1 + "algorithms.fedgd", None, "algorithms.fedgd: null is not a mapping"),
    ("fedsplit", FIG1 + "algorithms", {}, "fig1.algorithms: is empty"),
    ("fedsplit", FIG1 + "algorithms.fedgd.mem_mb", 0, "mem_mb: 0 is less than the minimum of 1"),
    ("fedsplit", FIG1 + "algorithms.fedgd.mem_mb", "2 GB", "mem_mb: '2 GB' is not a whole number"),
    ("fedsplit", "experiments.fig2b.algorithms.fedgd_limit", {}, "'fedgd_limit' needs the oracle hessian"),
    ("fedhybrid", "experiments.setup1.algorithms.disco.parameters.mu.value", [10, 1], "[10, 1] is not a range [low, high]"),
    ("fedhybrid", "experiments.setup1.algorithms.disco.parameters.mu.value", [0, 1], "[0, 1] is not a range [low, high]"),
    ("fedhybrid", "experiments.setup1.algorithms.disco.parameters.mu.value", [1, 2, 3], "[1, 2, 3] is not a range"),
    ("fedhybrid", "experiments.setup1.parameters.points", GONE, "needs the parameters points and horizon"),
    ("fedhybrid", "experiments.setup1.algorithms.fedh_g.parameters.b.value", "like c", "'like c' must name a hyper-parameter"),
    ("fedhybrid", "experiments.setup1.algorithms.fedh_g.parameters.newton.value", "none", "newton: 'none' is not"),
    ("hyfdca", "experiments.mnist.algorithms.hyfdca.parameters.tuned_for.grid", ["los"], "tuned_for: 'los' is not one of gra"),
    ("hyfdca", "experiments.mnist.algorithms.hyfdca.parameters.inner", entry(5), "inner: both given and tuned"),
    ("hyfdca", "experiments.theorems.algorithms.hyfdca.parameters.gamma.value", "1/s", "gamma: '1/s' is not one of 1, 1/t"),
    ("hyfdca", "experiments.theorems.algorithms.hyfdca.parameters.gamma.value", 1, "gamma: 1 is not one of 1, 1/t; put '1' in"),
    ("hyfdca", "experiments.mnist.algorithms.hyfdca.parameters.gamma", entry("theorem"), "'theorem' is for gamma and share"),
    ("shed", "experiments.gradient_norm.algorithms.gn_shed.parameters.renewals.value", "gradnorm", "'gradnorm' is not one of fib"),
    ("shed", "experiments.w8a_armijo.algorithms.fednl.parameters.beta.grid", [1], "beta: 1 is not a number in (0, 1)"),
    ("fco", "experiments.lasso.algorithms.fedmid.parameters.mirror", entry("euclid"), "'euclid' is not one of euclidean, entropy"),
    ("fco", "experiments.lasso.algorithms.fedmid.parameters.client_rate.grid", [0], "client_rate: 0 is not a number above 0"),
    ("fedhybrid", "experiments.setup1.algorithms.fedh_k.parameters.newton.grid", [21], "newton: 21 Newton clients of 20"),
    ("fco", "experiments.averaging.algorithms.local.parameters.client.grid", [999], "client: 999 is more than"),
    # at another scale than the one that runs
    ("fedsplit", FIG1 + "parameters.m.smoke", 0, "parameters.m: 0 is not a whole number of at least 1 (at scale smoke)"),
    ("fedsplit", FIG1 + "parameters.start.quick", "nromal", "'nromal' is not one of zero, normal (at scale quick)"),
    ("fedsplit", FIG3 + "parameters.kappa.quick", [1, 0], "kappa: 0 is not a number of at least 1 (at scale quick)"),
    # when to stop, and what to measure
    ("fedsplit", FIG1 + "stop.rounds.value", 0, "fig1.stop.rounds.value: 0 is less than the minimum of 1"),
    ("fedsplit", FIG1 + "stop.rounds.smoke", -1, "fig1.stop.rounds.smoke: -1 is less than"),
    ("fedsplit", FIG1 + "stop.rounds.value", 60.0, "stop.rounds.value: 60.0 is not a whole number"),
    ("fedsplit", FIG1 + "stop.rounds.value", True, "stop.rounds.value: true is not a whole number"),
    ("fedsplit", FIG1 + "stop.rounds", entry(grid=[5, 6]), "unknown key 'grid' at experiments.fig1.stop.rounds"),
    ("fedsplit", FIG1 + "stop.every", entry(0), "stop.every.value: 0 is less than"),
    ("fedsplit", FIG1 + "stop.every", entry(10**30), "is greater than the maximum of 1000000000"),
    ("fedsplit", FIG1 + "stop.halving", entry(-2), "stop.halving.value: -2 is less than"),
    ("fedsplit", FIG1 + "stop.until", entry(3), "unknown key 'until' at experiments.fig1.stop"),
    ("fedsplit", FIG3 + "stop.metric", "gasp", "metric 'gasp' is not measured; did you mean 'gap'?"),
    ("fedsplit", FIG3 + "stop.below.value", "epsilon", "stop.below names 'epsilon', which is not set"),
    ("fedsplit", FIG3 + "stop.below.value", [0.1], "stop.below.value: [0.1] is not a number or text"),
    ("fedsplit", "experiments.fig2b.seeds.value", 0, "fig2b.seeds.value: 0 is less than"),
    ("fedsplit", FIG1 + "measures", ["gpa"], "the problem 'fedsplit.gaussian_least_squares' has no measure 'gpa'; did you mean"),
    ("fedsplit", "experiments.fig2b.measures", ["gap"], "the problem 'fedsplit.femnist_one_vs_all' has no measure 'gap'"),
    ("fedsplit", FIG1 + "measures", [], "fig1.measures: is empty"),
    ("fedsplit", FIG1 + "measures", "gap", "fig1.measures: 'gap' is not a list"),
    ("fedsplit", FIG3 + "parameters.kappa.grid", list(range(1, 5000)), "cells, more than the 20,000"),
    # problems, data, partitions
    ("fedsplit", FIG1 + "problem", "fedsplit.least", "no problem 'least' in papers/fedsplit"),
    ("fedsplit", FIG1 + "problem", "os.system('x')", "is not a valid name; paper.function"),
    ("fedsplit", FIG1 + "problem", "fedspilt.gaussian_logistic", "no problem 'gaussian_logistic' in papers/fedspilt"),
    ("fedsplit", FIG1 + "dataset", "femnist", "draws its own data; leave out dataset and partition"),
    ("fedsplit", "experiments.fig2b.dataset", GONE, "needs a dataset and a partition"),
    ("fedsplit", "experiments.fig2b.dataset", "femnits", "fig2b.dataset: no dataset 'femnits'; did you mean 'femnist"),
    ("fedsplit", "experiments.fig2b.dataset", "mnist", "'writers' is one of the dataset 'femnist', not of 'mnist'"),
    ("fedsplit", "experiments.fig2b.partition", "writer", "no partition 'writer'; did you mean 'writers'?"),
    ("fedsplit", "partitions.writers.scheme", "by_gruop", "partitions.writers.scheme: no scheme 'by_gruop'; did you mean 'by_gr"),
    ("fedsplit", "partitions.writers.dataset", "femnit", "partitions.writers.dataset: no dataset 'femnit'"),
    ("fedsplit", "partitions.writers.parameters.smalest", entry(5), "the scheme 'by_group' has no parameter 'smalest'"),
    ("fedsplit", "partitions.writers.parameters.smallest.value", 0, "smallest: 0 is not a whole number"),
    ("fedsplit", "partitions.writers.parameters.split.value", "trian", "split: 'trian' is not one of train, test, all"),
    ("fedsplit", "partitions.writers.parameters.clients", entry(grid=[1]), "unknown key 'grid'"),
    ("fedsplit", "partitions.wri/ters", {}, "'wri/ters' is not a valid name"),
    ("shed", "partitions.msd_skew.parameters.largest", GONE, "the scheme 'one_year_per_agent' needs a value for 'largest'"),
    ("shed", "partitions.w8a_skew.parameters.largest.value", 10, "smallest: 700 is not"),
    ("shed", "partitions.fmnist_iid.parameters.rest.value", "mix", "rest: 'mix' is not one of mixed, one"),
    ("hyfdca", "partitions.mnist.parameters.clients.setting", "client", "'client' is missing: the partition 'mnist' takes its"),
    # figures, claims, slips, the paper itself
    ("fedsplit", "figures.fig9", lambda: ours("fedsplit")["figures"]["fig1"], "no @figure('fig9') in papers/fedsplit/figures"),
    ("fedsplit", "figures.fig1.experiments", ["fig11"], "figures.fig1: no experiment 'fig11'; did you mean 'fig1'?"),
    ("fedsplit", "figures.fig1.experiments", [], "figures.fig1.experiments: is empty"),
    ("fedsplit", "figures.fig1.colour", "red", "unknown key 'colour' at figures.fig1"),
    ("fedsplit", "claims.S1.figure", "fig11", "claims.S1.figure: no figure 'fig11'; did you mean 'fig1'?"),
    ("fedsplit", "claims.S1.experiments", ["fg1"], "claims.S1: no experiment 'fg1'"),
    ("fedsplit", "claims.S1.statement", GONE, "claims.S1: the key 'statement' is missing"),
    ("fedsplit", "claims.S99", lambda: ours("fedsplit")["claims"]["S1"], "no @claim('S99') in papers/fedsplit/claims"),
    ("fedsplit", "claims.S1|x", {}, "'S1|x' is not a valid name"),
    ("fedsplit", "slips", {}, "slips: {} is not a list"),
    ("fedsplit", "paper", "fedspilt", "'fedspilt' is not the file's name; write 'fedsplit'"),
    ("fedsplit", "experiments", {}, "experiments: is empty"),
    ("fedsplit", "experiments", [], "experiments: [] is not a mapping"),
    ("fedsplit", "experiments.fig$(ls)", {}, "'fig$(ls)' is not a valid name"),
    ("fedsplit", "figures", GONE, "top level: the key 'figures' is missing"),
    ("fedsplit", "year", "2020", "year: '2020' is not a whole number"),
    # config.yaml and datasets.yaml
    ("config", "scale", "huge", "config.yaml: scale: 'huge' is not one of smoke, quick, paper"),
    ("config", "papers", ["fedsplt"], "no paper 'fedsplt'; did you mean 'fedsplit'?"),
    ("config", "papers", [], "papers: is empty"),
    ("config", "papers", ["fedsplit", "fedsplit"], "papers: lists 'fedsplit' twice"),
    ("config", "papers", ["../fedsplit"], "'../fedsplit' is not a valid name"),
    ("config", "seeds.quick", GONE, "seeds: the key 'quick' is missing"),
    ("config", "seeds.smoke", 0, "seeds.smoke: 0 is less than the minimum of 1"),
    ("config", "seeds.smoke", 2.0, "seeds.smoke: 2.0 is not a whole number"),
    ("config", "download_limit_mb", NAN, "download_limit_mb: nan is not a finite number"),
    ("config", "download_limit_mb", -1, "download_limit_mb: -1 is less than the minimum of 0"),
    ("config", "scael", "quick", "unknown key 'scael'"),
    ("datasets", "datasets.mnist.variants", [], "datasets.mnist.variants: is empty"),
    ("datasets", "datasets.mnist.standin.generator", "mnits.standin", "no function 'standin' in fedrepro.datasets.mnits"),
    ("datasets", "datasets.mnist.licens", "x", "unknown key 'licens' at datasets.mnist"),
    ("datasets", "datasets.w8a.standin.expect.counts", {"one": 3}, "'one' is not a whole number"),
]  # fmt: skip

# (file, text that is replaced or None for all of it, by what, words of the refusal)
TEXTS = [
    ("fedsplit", None, "", "fedsplit.yaml: the file is empty"),
    ("fedsplit", None, "# nothing\n", "the file is empty"),
    ("fedsplit", None, "- a\n- b\n", "expected a mapping of keys at the top level"),
    ("fedsplit", None, "fedsplit\n", "expected a mapping of keys at the top level"),
    ("fedsplit", None, "paper: fedsplit\ntitle: [unclosed\n", "fedsplit.yaml, line"),
    ("fedsplit", None, "paper: fedsplit\n\ttitle: x\n", "line 2: not valid YAML"),
    ("fedsplit", None, b"paper: fedsplit\ntitle: caf\xe9\n", "line 2: not UTF-8"),
    ("fedsplit", None, "paper: \0\n", "not valid YAML"),
    ("fedsplit", None, "a: &a [*a]\n", "an anchor that contains itself"),
    ("fedsplit", None, "a: &a {b: *a}\n", "an anchor that contains itself"),
    ("fedsplit", None, "[" * 100_000, "nested more than 40 levels"),
    ("fedsplit", None, "a: " + "[" * 60 + "]" * 60, "nested more than 40 levels"),
    ("fedsplit", None, "a: *nowhere\n", "not valid YAML"),
    ("fedsplit", None, "a: 1\n---\nb: 2\n", "not valid YAML"),
    ("fedsplit", None, "a: !!python/object/apply:os.system [ls]\n", "not valid YAML"),
    ("fedsplit", None, "? [a, b]\n: 1\n", "not valid YAML"),
    ("fedsplit", None, "a: 2020-13-45\n", "not valid YAML"),
    ("fedsplit", "year: 2020", "year: 2020-01-01", "year: '2020-01-01' is read as a date; put it in quotes"),
    ("fedsplit", "year: 2020", "year: 2020\n1.5: x", "the key 1.5 must be text"),
    ("fedsplit", "year: 2020", "year: 2020\ntrue: x", "the key true must be text"),
    ("fedsplit", "year: 2020", "year: 2020\nyear: 2021", "the key 'year' appears twice; keep one of them"),
    ("fedsplit", "  fig2a:\n    about", "  fig1:\n    about", "the key 'fig1' appears twice"),
    ("fedsplit", "      fedsplit: &split_exact", "      fedgd: &split_exact", "the key 'fedgd' appears twice"),
    ("fedsplit", "m: { value: 25,", "m: { value: 25, value: 26,", "the key 'value' appears twice"),
    ("fedsplit", "      <<: *characters\n", "      <<: *characters\n      <<: *logistic\n", "write `<<: [*one, *other]`"),
    ("fedsplit", "value: 0.25,", "value: .nan,", "parameters.sigma2.value: nan is not a finite number"),
    ("fedsplit", "grid: [1, 10, 100],", "grid: [1, -.inf],", "local_steps.grid[1]: -inf is not a finite number"),
    ("config", "paper: 5", "paper: 5\n  paper: 6", "config.yaml, line 11: not valid YAML (the key 'paper' appears twice"),
    ("config", None, "", "config.yaml: the file is empty"),
    ("datasets", None, "files: {}\n", "top level: the key 'datasets' is missing"),
]  # fmt: skip

# what --config may be given by mistake
OVERRIDES = [
    ({"scale": 3}, "--config: scale: 3 is not one of smoke, quick, paper"),
    ({"scale": "smok"}, "did you mean 'smoke'?"),
    ({"scale": None}, "scale: null is not one of"),
    ({"scal": "quick"}, "--config: unknown key 'scal'"),
    ({"data": "fake"}, "data: 'fake' is not one of auto, real, standin"),
    ({"data": True}, "data: true is not one of"),
    ({"download_limit_mb": "abc"}, "download_limit_mb: 'abc' is not a number"),
    ({"download_limit_mb": NAN}, "download_limit_mb: nan is not a finite number"),
    ({"seeds": 0}, "seeds.paper: 0 is less than the minimum of 1"),
    ({"seeds": 1.5}, "seeds: 1.5 is neither a whole number, as in seeds=2, nor a mapping"),
    ({"seeds": "two"}, "seeds: 'two' is neither a whole number"),
    ({"seeds": True}, "seeds.paper: true is not a whole number"),
    ({"seeds": {"smok": "1"}}, "unknown key 'smok' at seeds"),
    ({"seeds": {"smoke": "x"}}, "seeds.smoke: 'x' is not a whole number"),
    ({"seeds": 30_000}, "cells, more than the 20,000"),
    ({"papers": "fedsplt"}, "no paper 'fedsplt'; did you mean 'fedsplit'?"),
    ({"papers": 3}, "papers: 3 is not a list"),
    ({"papers": "fedsplit;ls"}, "'fedsplit;ls' is not a valid name"),
    ({"papers": {"a": "b"}}, "papers: {'a': 'b'} is not a list"),
]  # fmt: skip


def file_of(name: str) -> str:
    return f"{name}.yaml" if name in ("config", "datasets") else f"papers/{name}.yaml"


@cache
def ours(name: str) -> dict:
    return read_yaml(ROOT / "config" / file_of(name))


@pytest.fixture
def project(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "results").mkdir()
    return tmp_path


def put(document: dict, key: str, value) -> None:
    *above, last = key.split(".")
    for name in above:
        document = document[name]
    if value is GONE:
        del document[last]
    else:
        document[last] = value() if callable(value) else value


def write(project, name: str, document: dict) -> None:
    text = yaml.dump(document, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), allow_unicode=True)
    (project / "config" / file_of(name)).write_text(text)


def refusal(project, name: str, overrides: dict | None = None) -> str:
    """The one sentence; reading one paper is enough unless the mistake is elsewhere."""
    papers = {} if name == "config" else {"papers": ["fedsplit" if name == "datasets" else name]}
    with pytest.raises(ConfigError) as error:
        Plan({**papers, **(overrides or {})}, project)
    message = str(error.value)
    assert "\n" not in message and len(message) < 600
    return message


@pytest.mark.parametrize(("name", "key", "value", "words"), VALUES)
def test_a_wrong_value_is_refused(project, name, key, value, words):
    document = copy.deepcopy(ours(name))
    put(document, key, value)
    write(project, name, document)
    message = refusal(project, name, {"scale": "paper"} if name != "config" else None)
    assert words in message
    assert f"{name}.yaml" in message


@pytest.mark.parametrize(("name", "old", "new", "words"), TEXTS)
def test_a_wrong_text_is_refused(project, name, old, new, words):
    path = project / "config" / file_of(name)
    if old is not None:
        text = path.read_text()
        assert old in text
        new = text.replace(old, new, 1)
    path.write_bytes(new if isinstance(new, bytes) else new.encode())
    message = refusal(project, name)
    assert words in message and f"{name}.yaml" in message


@pytest.mark.parametrize(("overrides", "words"), OVERRIDES)
def test_a_wrong_override_is_refused(project, overrides, words):
    assert words in refusal(project, "fedsplit", overrides)


def test_there_are_enough_of_them():
    assert len(VALUES) + len(TEXTS) + len(OVERRIDES) >= 90


@pytest.mark.parametrize("depth", [12, 40])
@pytest.mark.parametrize("style", ["list", "merge"])
def test_anchors_that_explode_are_refused_at_once(project, depth, style):
    lines = ["a0: &a0 {k: 1}"]
    for i in range(1, depth):
        nine = ", ".join([f"*a{i - 1}"] * 9)
        lines.append(f"a{i}: &a{i} [{nine}]" if style == "list" else f"a{i}: &a{i} {{<<: [{nine}]}}")
    (project / "config/papers/fedsplit.yaml").write_text("\n".join(lines))
    begin = time.process_time()
    message = refusal(project, "fedsplit")
    assert time.process_time() - begin < 1.0
    if style == "list":
        assert "once its anchors are written out" in message


def test_merge_keys_still_mean_what_they_say(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: &b {<<: *a, y: 3}\nc: {<<: [*b, {z: 4}], x: 5}\n")
    assert read_yaml(path) == yaml.safe_load(path.read_text())
    assert read_yaml(path)["c"] == {"x": 5, "y": 3, "z": 4}


def test_files_read_as_yaml_itself_reads_them():
    for path in [
        ROOT / "config/config.yaml",
        ROOT / "config/datasets.yaml",
        *(ROOT / "config/papers").glob("*.yaml"),
    ]:
        assert read_yaml(path) == yaml.safe_load(path.read_text())


def test_overrides_that_config_promises():
    assert list(load({"papers": "shed", "scale": "smoke"}, ROOT).papers) == ["shed"]
    assert list(load({"papers": "shed,fedsplit", "scale": "smoke"}, ROOT).papers) == ["shed", "fedsplit"]
    assert load({"seeds": 2, "papers": "shed"}, ROOT).seeds == {"smoke": 2, "quick": 2, "paper": 2}
    given = load({"seeds": {"smoke": "1"}, "papers": "fedsplit", "scale": "smoke"}, ROOT)
    assert given.seeds == ours("config")["seeds"] | {"smoke": 1}
    assert given.papers["fedsplit"].experiment_blocks("fedsplit_fig1")[0].experiment.seeds == 1
    assert load({"download_limit_mb": 5, "data": "standin", "papers": "shed"}, ROOT).download_limit_mb == 5


def leaves(node, path=()):
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield (*path, key)
            yield from leaves(child, (*path, key))


@pytest.mark.parametrize("name", ["fedsplit", "fedhybrid", "fco", "hyfdca", "shed", "datasets", "config"])
def test_nothing_but_a_refusal_comes_out(project, name):
    """Anything put anywhere: valid, or one sentence; never another exception."""
    odd = [
        None,
        "",
        "x",
        "a b",
        0,
        -1,
        1,
        2.5,
        True,
        [],
        {},
        [1],
        ["x"],
        {"value": 1},
        {"x": 1},
        10**30,
        "1e5",
        [[]],
    ]
    draw = random.Random(name)
    places = list(leaves(ours(name)))
    for _ in range(25):
        document = copy.deepcopy(ours(name))
        *above, last = draw.choice(places)
        node = document
        for key in above:
            node = node[key]
        node[last] = draw.choice(odd)
        write(project, name, document)
        papers = {} if name == "config" else {"papers": ["fedsplit" if name == "datasets" else name]}
        try:
            Plan({"scale": draw.choice(SCALES), **papers}, project)
        except ConfigError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("scale", SCALES)
def test_ours_passes(scale):
    assert Plan({"scale": scale}, ROOT).blocks


@pytest.mark.workflow
def test_snakemake_says_the_sentence_and_no_more(tmp_path):
    project = copy_project(tmp_path / "project")

    def said(*words: str) -> str:
        done = snakemake(project, "-n", *words, check=False)
        assert done.returncode
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "--config: scale: 3 is not one of smoke, quick, paper" in said("--config", "scale=3")
    assert "unknown key 'scael' at top level; did you mean 'scale'?" in said("--config", "scael=smoke")
    assert "no paper 'fedsplt'; did you mean 'fedsplit'?" in said("--config", "papers=fedsplt")
    right = "targets come before --config, as in: snakemake --cores 2 fedsplit_fig1 --config scale=smoke"
    assert said("--config", "scale=smoke", "fedsplit_fig1").strip().endswith(right)
    assert said("--config", "x=1").strip().startswith("--config: 'x=1' has no valid key")
    promised = ("scale=smoke", "seeds={smoke: 1}", "papers=fedsplit", "data=standin")
    assert "fedsplit_fig1" in snakemake(project, "-n", "fedsplit_fig1", "--config", *promised).stdout
    for text in (b"", b"scale: caf\xe9\n", b"scale: [\n", b"scale: smoke\nscale: quick\n", b"- a\n"):
        (project / "config/config.yaml").write_bytes(text)
        assert "config.yaml" in said()
