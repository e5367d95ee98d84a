from pathlib import Path

from fedrepro.config import Block
from fedrepro.jobs import data_of, job
from fedrepro.runner import solve_references

with job() as given:
    block = Block.from_json(given.block)
    solve_references(block, Path(given.output), data_of(block, given.partition))
