"""The report in a real browser: it loads, shows every figure, asks the network for nothing."""

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from fedrepro.pipeline.config import load

pytestmark = pytest.mark.workflow
CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.loads, self.targets, self.ids = [], [], set()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found["id"]} if "id" in found else set()
        if tag in ("img", "script", "iframe", "link", "source", "video", "audio") and (
            found.get("src") or found.get("href")
        ):
            self.loads.append(found.get("src") or found["href"])
        if tag == "a" and "href" in found:
            self.targets.append(found["href"])


def links(path) -> Links:
    parser = Links()
    parser.feed(path.read_text())
    return parser


def page(finished):
    return finished / "results/smoke/report/index.html"


def test_nothing_is_loaded_from_elsewhere(finished):
    pages = [page(finished), *(finished / "results/smoke/notebooks").glob("*.html")]
    assert len(pages) > 1
    for path in pages:
        assert [load for load in links(path).loads if not load.startswith("data:")] == [], path
        assert not re.search(r"@import|url\(\s*['\"]?https?:", path.read_text()), path


def test_every_link_leads_somewhere(finished):
    found = links(page(finished))
    for target in found.targets:
        if target.startswith("#"):
            assert target[1:] in found.ids, target
        else:
            assert (page(finished).parent / target).exists(), target


def test_every_figure_and_claim_is_there(finished):
    config = load({"scale": "smoke"}, finished)
    ids = links(page(finished)).ids
    for name, paper in config.papers.items():
        assert {f"{name}_{figure}" for figure in paper.raw["figures"]} <= ids
        assert {f"claim-{claim}" for claim in paper.raw["claims"]} <= ids


def test_a_reduced_scale_is_said(finished):
    assert "smoke" in page(finished).read_text().split("<main>")[0]


@pytest.mark.browser
def test_in_a_browser(finished, tmp_path):
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is not installed")
        pytest.skip("Chromium is not installed: the report was not opened in a browser")
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr", "--v=0",
    ]  # fmt: skip
    net = tmp_path / "net.json"
    command = [
        CHROMIUM,
        *flags,
        f"--user-data-dir={tmp_path}/profile",
        f"--log-net-log={net}",
        "--dump-dom",
        page(finished).as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "CONSOLE" not in done.stderr
    assert "</html>" in done.stdout
    wanted = sum(len(p.raw["figures"]) for p in load({"scale": "smoke"}, finished).papers.values())
    assert done.stdout.count('<img src="data:image/') >= wanted
    text = net.read_text().rstrip()
    log = json.loads(
        text if text.endswith("}") else text.rstrip(",") + "]}"
    )  # cut short when the browser left early
    asked = {
        e["params"]["url"]
        for e in log["events"]
        if isinstance(e.get("params"), dict) and "url" in e["params"]
    }
    # Chromium itself may try to phone home at start-up; the page must not
    assert not [
        url for url in asked if url.startswith("http") and "google" not in url and "gvt1" not in url
    ], asked
