"""Runs that others are held against, made once, and the table of faults that `make test-faults` writes."""

from pathlib import Path

import pytest
from fault_runs import FIGURE, SMOKE, run
from fault_table import Tally

from project_copy import copy_project


def pytest_addoption(parser):
    parser.addoption("--faults-table", action="store_true", help="write the table in tests/README.md")


@pytest.fixture(scope="session")
def tally(request):
    """What was tried and what survived; written down at the end where asked to."""
    kept = Tally()
    yield kept
    if request.config.getoption("--faults-table", default=False):
        kept.write(Path(__file__).parents[1] / "README.md")


@pytest.fixture(scope="session")
def figure(tmp_path_factory):
    """A copy of the project in which one figure has been drawn, undisturbed."""
    project = copy_project(tmp_path_factory.mktemp("figure") / "project")
    run(project, "--cores", "2", FIGURE, *SMOKE)
    return project


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """A copy of the project in which all five papers have been run, undisturbed."""
    project = copy_project(tmp_path_factory.mktemp("undisturbed") / "project")
    run(project, "--cores", "2", *SMOKE)
    return project


@pytest.fixture
def project(tmp_path):
    """A fresh copy, nothing run."""
    return copy_project(tmp_path / "project")
