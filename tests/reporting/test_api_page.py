"""docs/api.md, made from the library's own words."""

import inspect

import fedrepro
from fedrepro import algorithms
from fedrepro.maths import losses, proxes
from fedrepro.pipeline.config import ROOT
from fedrepro.reporting import api


def test_the_page_is_current():
    assert (ROOT / "docs/api.md").read_text() == api.page(), "renew it with `fedrepro api`"


def test_the_whole_surface_is_on_it_with_words_of_its_own():
    page = api.page()
    for name in fedrepro.__all__:
        assert f"\n## {name}\n" in page
        assert inspect.getdoc(getattr(fedrepro, name)).splitlines()[0] in page
    assert "\nClients.from_arrays(X" in page and "\nStreamedClients.from_arrays(X" in page
    assert all(f"\n- `{name}`: " in page for name in losses.LOSSES)
    assert all(f"\n- `{name}" in page for name, _ in api.own(proxes))
    for name in algorithms.names():
        function = algorithms.get(name)
        shown = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        assert bool(shown) == (function.needs <= fedrepro.Clients.offers()), name
        assert not shown or all(f"- `{p}`" in shown for p in algorithms.parameters(function))
    assert "\n### fedsplit\n" in page


def test_nothing_on_it_hangs_on_this_process_or_machine():
    page = api.page()
    assert " at 0x" not in page and "<function" not in page and str(ROOT) not in page
