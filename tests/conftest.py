"""The real workflow in copies of the project, at scale smoke, run whole once for all tests that ask for it."""

import fcntl
import os
from pathlib import Path

import pytest

# One BLAS thread, as every job has: results must not hang on the number of cores.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"


def pytest_collection_modifyitems(items):
    """What asks for the finished run goes first: of two workers one makes it while the other begins at the middle."""
    items.sort(key=lambda item: not {"finished", "after"} & set(item.fixturenames))


def pytest_addoption(parser):
    parser.addoption(
        "--finished", type=Path, help="a copy that this very code has run whole, instead of running one"
    )
    parser.addoption("--faults-table", choices=("new", "add"), help="write the table in tests/README.md")


@pytest.fixture(scope="session")
def finished(request, tmp_path_factory):
    """A copy of the project in which everything has been run at scale smoke."""
    from project_copy import copy_project, snakemake

    if given := request.config.getoption("--finished"):
        return given
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    project, done = shared / "finished/project", shared / "finished/done"
    with open(shared / "finished.lock", "w") as lock:  # whichever worker comes first makes it for both
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            copy_project(project)
            snakemake(project, "--cores", "2", "--config", "scale=smoke")
            done.touch()
    return project


@pytest.fixture
def project(tmp_path):
    """A fresh copy, nothing run."""
    from project_copy import copy_project

    return copy_project(tmp_path / "project")


@pytest.fixture
def after(finished, tmp_path):
    """A private copy of the finished project, to change things in."""
    from dry_runs import copy_of

    return copy_of(finished, tmp_path / "after")
