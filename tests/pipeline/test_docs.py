"""What is published in docs/, where something is, is the configuration's and its own evidence's."""

import pytest

import published
from fedrepro.pipeline import publish
from fedrepro.pipeline.config import ROOT
from fedrepro.pipeline.documents import ConfigError


def test_what_is_published_is_whole():
    if not (ROOT / "docs/manifest.json").exists():
        pytest.skip("nothing is published")
    published.check(ROOT / "docs", ROOT)


def test_a_readme_without_a_place_for_the_summary_is_refused():
    with pytest.raises(ConfigError, match="no place"):
        publish.summarised("# a project\n", "words")
    before = f"a\n{publish.BEGIN}\nold\n{publish.END}\nb\n"
    after = publish.summarised(before, r"new \1")
    assert after == f"a\n{publish.BEGIN}\nnew \\1\n{publish.END}\nb\n"


def test_what_is_too_large_is_refused_with_the_largest_named(tmp_path, monkeypatch):
    (tmp_path / "index.html").write_text("x" * 2000)
    (tmp_path / "large.svg").write_text("x" * 9000)
    publish.weigh(tmp_path)
    monkeypatch.setattr(publish, "MOST_MB", 0.01)
    with pytest.raises(ConfigError, match=r"large\.svg"):
        publish.weigh(tmp_path)
