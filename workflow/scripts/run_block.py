from pathlib import Path

from fedrepro.config import Block
from fedrepro.jobs import data_of, job
from fedrepro.runner import run_block

with job() as given:
    block = Block.from_json(given.block)
    run_block(block, Path(given.reference), Path(given.output), data_of(block, given.partition))
