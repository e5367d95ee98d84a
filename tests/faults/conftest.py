"""The table of faults, which `make test-faults` writes."""

from pathlib import Path

import pytest
from fault_table import Tally


@pytest.fixture(scope="session")
def tally(request):
    """What was tried and what survived; written down at the end where asked to."""
    kept = Tally()
    yield kept
    if how := request.config.getoption("--faults-table"):
        kept.write(Path(__file__).parents[1] / "README.md", keep=how == "add")
