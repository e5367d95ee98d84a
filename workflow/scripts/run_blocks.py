import json
from pathlib import Path

from fedrepro.experiments.experiment import Block
from fedrepro.experiments.problem import Data
from fedrepro.experiments.runner import run_block
from fedrepro.pipeline.jobs import job

with job() as given:
    for record, output, key in json.loads(given.blocks):
        block = Block.from_json(record)
        data = Data.of(block.experiment, given.partition)
        run_block(block, Path(given.reference), Path(output), data, key)
