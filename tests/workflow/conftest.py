"""The real workflow in a copy of the project, at scale smoke, run once for all tests here."""

import pytest

from dry_runs import copy_of
from project_copy import copy_project, snakemake


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A copy of the project in which everything has been run at scale smoke."""
    project = copy_project(tmp_path_factory.mktemp("finished") / "project")
    snakemake(project, "--cores", "2", "--config", "scale=smoke")
    return project


@pytest.fixture
def project(tmp_path):
    """A fresh copy, nothing run."""
    return copy_project(tmp_path / "project")


@pytest.fixture
def after(finished, tmp_path):
    """A private copy of the finished project, to change things in."""
    return copy_of(finished, tmp_path / "after")
