"""Every test here is alone: no mirror, no proxy, nothing beyond 127.0.0.1."""

import threading

import pytest
from local_publisher import Publisher

from fedrepro.datasets.transport import download


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """No mirror, no proxy, no network beyond 127.0.0.1, a run of its own."""
    monkeypatch.setenv("FEDREPRO_MIRROR", str(tmp_path / "no-mirror"))
    monkeypatch.setenv("FEDREPRO_RUN", tmp_path.name)
    monkeypatch.delenv("FEDREPRO_OFFLINE", raising=False)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download, "CONNECT_SECONDS", 1.0)
    monkeypatch.setattr(download, "STALL_SECONDS", 0.5)


@pytest.fixture
def publisher():
    server = Publisher()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
