"""The real workflow in a copy of the project, at scale smoke, run once for all tests here."""

import pytest

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
