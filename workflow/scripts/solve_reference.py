from pathlib import Path

from fedrepro.experiments.experiment import Experiment
from fedrepro.experiments.problem import Data
from fedrepro.experiments.runner import solve_references
from fedrepro.pipeline.jobs import job

with job() as given:
    experiment = Experiment.from_json(given.experiment)
    solve_references(experiment, Path(given.output), Data.of(experiment, given.partition), given.key)
