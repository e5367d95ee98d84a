"""What a published folder must be: exactly the configuration's figures and claims, with the numbers of its own evidence."""

import csv
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

from fedrepro.pipeline import publish
from fedrepro.pipeline.config import load
from fedrepro.reporting import evidence
from fedrepro.reporting.matrix import shade
from fedrepro.reporting.verdicts import decide


class Page(HTMLParser):
    """The ids of a page, where it leads, what it loads, and the cells of its matrix."""

    def __init__(self, path: Path):
        super().__init__()
        self.ids, self.targets, self.loads, self.cells = set(), [], [], {}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found["id"]} if "id" in found else set()
        if tag == "a" and "href" in found:
            self.targets.append(found["href"])
            if found.get("class", "").startswith("cell "):
                self.cells[found["href"].removeprefix("#claim-")] = found["class"].removeprefix("cell ")
        elif tag in ("img", "script", "iframe", "link", "source", "video", "audio", "image"):
            self.loads += [found[k] for k in ("src", "href") if k in found]


def check(docs: Path, root: Path) -> dict:
    """Its manifest, after all has been looked at."""
    manifest = json.loads((docs / "manifest.json").read_text())
    config = load({"scale": manifest["scale"]}, root)
    files = {p.relative_to(docs).as_posix(): p for p in docs.rglob("*") if p.is_file()}
    for name, wanted in manifest["files"].items():
        assert hashlib.sha256(files[name].read_bytes()).hexdigest() == wanted, (
            f"{name} is not what was published"
        )
    assert set(files) - set(publish.KEPT) == {*manifest["files"], "manifest.json"}
    assert sum(p.stat().st_size for p in files.values()) < publish.MOST_MB * 1e6
    assert files["index.html"].stat().st_size < publish.PAGE_MB * 1e6
    assert {*manifest["papers"], *(set(manifest["missing"]) & set(config.papers))} == set(config.papers)
    assert not set(manifest["papers"]) & set(manifest["missing"])
    for path in files.values():  # nothing names the folders of the machine that made it
        assert not re.search(rb'"/\S*src/fedrepro/', path.read_bytes()), path
    assert not any(p.suffix in (".js", ".css", ".woff", ".woff2") for p in files.values())

    papers = {name: config.papers[name] for name in manifest["papers"]}
    figures = {f"{name}/{figure}" for name, paper in papers.items() for figure in paper.raw["figures"]}
    assert {
        n.removeprefix("figures/").removesuffix(".svg") for n in files if n.startswith("figures/")
    } == figures
    page = Page(files["index.html"])
    assert {name.replace("/", "_") for name in figures} <= page.ids
    check_links(docs, page)
    with open(files["claims.csv"], newline="") as file:
        rows = list(csv.DictReader(file))
    claims = {
        (name, claim): entry for name, paper in papers.items() for claim, entry in paper.raw["claims"].items()
    }
    assert [(row["paper"], row["id"]) for row in rows] == list(claims)
    measured = evidence.read(files["evidence.parquet"])
    assert set(measured) <= set(claims)
    for row in rows:
        key = row["paper"], row["id"]
        verdict = decide(claims[key], measured.get(key, []), manifest["scale"])
        assert (row["verdict"], row["why"]) == (verdict.verdict, verdict.why), (
            f"{key}: not what its evidence says"
        )
        assert page.cells[row["id"]] == shade(row["verdict"])
    assert len(page.cells) == len(rows)
    check_readme(root / "README.md", manifest, rows)
    return manifest


def check_links(docs: Path, page: Page) -> None:
    assert [load for load in page.loads if not load.startswith("data:")] == []
    for target in page.targets:
        if target.startswith("#"):
            assert target[1:] in page.ids, target
        else:
            assert not re.match(r"/|\w+:", target) and (docs / target).is_file(), target


def check_readme(readme: Path, manifest: dict, rows: list[dict]) -> None:
    """Its summary is the published one, and what it shows is there."""
    words = publish.summary(manifest, rows)
    assert f"{publish.BEGIN}\n{words}\n{publish.END}" in readme.read_text(), "make publish was not run"
    for target in re.findall(r"\]\((docs[^)]*)\)", words):
        assert (readme.parent / target).exists(), target
