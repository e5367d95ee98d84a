from pathlib import Path

from fedrepro.experiments.experiment import Block
from fedrepro.experiments.problem import Data
from fedrepro.experiments.runner import run_block
from fedrepro.pipeline.jobs import job

with job() as given:
    block = Block.from_json(given.block)
    data = Data.of(block.experiment, given.partition)
    run_block(block, Path(given.reference), Path(given.output), data, given.key)
