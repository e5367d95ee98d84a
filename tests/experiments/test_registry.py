"""What the papers contribute is found by reading, and imported one module at a time."""

import subprocess
import sys
from textwrap import dedent

import pytest

from fedrepro.experiments import registry
from fedrepro.experiments.registry import Registry
from fedrepro.pipeline.config import ROOT, load

PAPERS = list(load({"scale": "smoke"}, ROOT).papers)


def in_a_fresh_process(source: str) -> None:
    subprocess.run([sys.executable, "-c", dedent(source)], check=True)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_name_leads_to_a_function_of_that_module(paper):
    for kind in (registry.problem, registry.figure, registry.claim, registry.evidence):
        for name, module in kind.names(paper).items():
            function = kind.get(paper, name)
            assert function.__module__ == module and module.startswith(f"fedrepro.papers.{paper}.{kind.kind}")


@pytest.mark.parametrize("paper", PAPERS)
def test_the_yaml_and_the_functions_name_the_same_figures_and_claims(paper):
    raw = load({"scale": "smoke", "papers": [paper]}, ROOT).papers[paper].raw
    assert set(registry.figure.names(paper)) == set(raw["figures"])
    assert set(registry.claim.names(paper)) == set(raw["claims"])


def test_names_are_found_without_importing_anything():
    in_a_fresh_process("""
        import sys
        from fedrepro.experiments.registry import figure, claim, problem
        assert "fig8" in figure.names("shed") and problem.names("fco") and claim.names("hyfdca")
        loaded = [m for m in sys.modules if m.startswith("fedrepro.papers.") and m.count(".") > 2]
        assert not [m for m in loaded if not hasattr(sys.modules[m], "__path__")], loaded
        assert "matplotlib" not in sys.modules and "pandas" not in sys.modules
    """)


def test_a_lookup_imports_one_module_only():
    in_a_fresh_process("""
        import sys
        from fedrepro.experiments.registry import problem
        problem.get("fco", "lasso")
        assert "fedrepro.papers.fco.problems.recovery" in sys.modules
        others = ("problems.scans", "problems.characters", "figures", "claims")
        assert not [m for m in others if f"fedrepro.papers.fco.{m}" in sys.modules]
        assert "matplotlib" not in sys.modules and "pandas" not in sys.modules
    """)


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A package of two papers: one with a package of figures, one with a module of them."""
    (tmp_path / "made_up/one/figures").mkdir(parents=True)
    (tmp_path / "made_up/two").mkdir()
    for folder in (".", "one", "one/figures", "two"):
        (tmp_path / "made_up" / folder / "__init__.py").write_text("")
    start = "from fedrepro.experiments import registry\nfigure = registry.MADE_UP\n"
    (tmp_path / "made_up/one/figures/a.py").write_text(
        start
        + '@figure("fig1")\ndef first(r):\n    return "first"\n\n\n@figure()\ndef steps(r):\n    return "steps"\n'
    )
    (tmp_path / "made_up/one/figures/b.py").write_text('raise ImportError("nobody asked for this")\n')
    (tmp_path / "made_up/two/figures.py").write_text(
        start + '@figure("fig1")\ndef other(r):\n    return "of two"\n\n\ndef plain(r):\n    return None\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "PAPERS", "made_up")
    kind = Registry("figure", "figures")
    monkeypatch.setattr(registry, "MADE_UP", kind, raising=False)
    yield kind
    for name in [n for n in sys.modules if n.partition(".")[0] == "made_up"]:
        del sys.modules[name]
    registry.modules.cache_clear()


def test_a_package_of_modules_and_a_module_are_the_same_to_it(made_up):
    assert made_up.names("one") == {"fig1": "made_up.one.figures.a", "steps": "made_up.one.figures.a"}
    assert made_up.names("two") == {"fig1": "made_up.two.figures"}
    assert made_up.get("one", "fig1")(None) == "first" and made_up.get("one", "steps")(None) == "steps"
    assert made_up.get("two", "fig1")(None) == "of two"


def test_a_name_that_is_not_there_gives_a_sentence(made_up):
    with pytest.raises(LookupError, match="no figure 'plain' in papers/two/figures; there are fig1"):
        made_up.get("two", "plain")
    with pytest.raises(LookupError, match="there are none"):
        made_up.get("three", "fig1")
