import os

import pytest

# One BLAS thread, as every job has: results must not hang on the number of cores.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

LONG = ("workflow", "faults")  # folders whose tests share a finished run


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests that share a run go to one worker of pytest-xdist, and first, since they take longest."""
    for item in items:
        if item.path.parent.name in LONG:
            item.add_marker(pytest.mark.xdist_group(item.path.parent.name))
    items.sort(key=lambda item: item.path.parent.name not in LONG)
