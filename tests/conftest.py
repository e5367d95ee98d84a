"""The real workflow in copies of the project, at scale smoke, run whole once for all tests that ask for it."""

import os
from pathlib import Path

import pytest

# One BLAS thread, as every job has: results must not hang on the number of cores.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests that share the finished run go to one worker of pytest-xdist; what runs the workflow goes first."""
    for item in items:
        if {"finished", "after"} & set(item.fixturenames):
            item.add_marker(pytest.mark.xdist_group("finished"))
    items.sort(
        key=lambda item: (item.get_closest_marker("xdist_group") is None, "workflow" not in item.keywords)
    )


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
    project = copy_project(tmp_path_factory.mktemp("finished") / "project")
    snakemake(project, "--cores", "2", "--config", "scale=smoke")
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
