"""Publishers that stall, cut, send something else or are away: each is passed over for the next, and where none is left the
sentence says what every one of them did."""

import hashlib
import json
import sys
import threading
from pathlib import Path

import pytest
import yaml
from fault_runs import run

sys.path.append(str(Path(__file__).parents[1] / "datasets"))
from local_publisher import Publisher

pytestmark = [pytest.mark.workflow, pytest.mark.faults]  # long: `make test-faults`
BODY = "".join(f"{'ep'[i % 2]},{','.join('abcdefghijklmnopqrstuv')}\n" for i in range(40)).encode()
FAULTS = {  # what the server does -> what is said of it
    "stall": "stalled",  # for seconds, or earlier in the run
    "cut": "found 920",
    "loop": "HTTP status 302",
    "away": "not a web address",
    "nothing": "HTTP status 404",
    "page": "an HTML page",
    "other bytes": "expected sha256",
    "gone": "refused",
}


@pytest.fixture
def servers():
    """One for every fault, each at a port of its own, and one without."""
    made = {}
    for fault in (*FAULTS, "none"):
        made[fault] = server = Publisher()
        server.patience = 8.0
        server.bodies = {
            "/data": {"page": b"<html>please log in</html>", "other bytes": BODY[::-1]}.get(fault, BODY)
        }
        server.faults = {"/data": fault}
        if fault == "nothing":
            server.bodies = {}
        if fault == "gone":
            server.server_close()
        else:
            threading.Thread(target=server.serve_forever, daemon=True).start()
    yield made
    for fault, server in made.items():
        if fault != "gone":
            server.shutdown()
            server.server_close()


def test_servers_that_fail_in_every_way(project, servers, tally):
    path = project / "config/datasets.yaml"
    document = yaml.safe_load(path.read_text())
    files, datasets = document["files"], document["datasets"]
    faulty = [f"{servers[fault].url}/data" for fault in FAULTS]
    digest = hashlib.sha256(BODY).hexdigest()
    for name, file in (("mushroom", "agaricus-lepiota.data"), ("boston", "housing.data")):
        entry = files[f"{name}/{file}"]
        entry |= {
            "urls": [*faulty, f"{servers['none'].url}/data"] if name == "mushroom" else faulty,
            "sha256": digest,
        }
        entry.pop("md5", None)
        datasets[name]["variants"] = datasets[name]["variants"][:1]
        datasets[name]["variants"][0].pop("content")
    datasets["mushroom"]["variants"][0]["expect"] = {"rows": 40, "columns": 22}
    path.write_text(yaml.safe_dump(document))
    wanted = [f"data/decoded/{name}/meta.json" for name in ("mushroom", "boston")]
    circumstances = {
        "FEDREPRO_MIRROR": str(project / "none"),
        "FEDREPRO_OFFLINE": "",
        "no_proxy": "127.0.0.1",
    }
    words = ("--cores", "1", "--config", "scale=smoke", "data=real", "--", *wanted)
    done = run(project, *words, check=False, circumstances=circumstances)
    assert done.returncode != 0 and not (project / wanted[1]).exists()
    assert json.loads((project / wanted[0]).read_text())["origin"] == "publisher"
    for fault, words in FAULTS.items():
        said = [line for line in done.stderr.splitlines() if servers[fault].url in line]
        assert any(words in line for line in said), (fault, [line[:300] for line in said])
        tally.add("a server that stalls, cuts, redirects, sends other bytes or is away", True, SEES)
    assert "put it at data/raw/boston/housing.data" in done.stderr


SEES = (
    "nothing; the next address is asked. Where none is left: what each did, the digest, where to put the file"
)
