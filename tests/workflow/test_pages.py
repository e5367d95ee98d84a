"""The report in a real browser: every figure and claim is there, its controls do what they say, no network is asked."""

import csv
import io
import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pytest

from chromium import Chromium
from chromium import needed as chromium_needed
from fedrepro.experiments.results import Results
from fedrepro.papers.arena.readings import CLASSES
from fedrepro.pipeline.config import load
from fedrepro.reporting.notebooks import redrawn
from published import Page

pytestmark = pytest.mark.workflow


def page(finished):
    return finished / "results/smoke/report/index.html"


def test_nothing_is_loaded_from_elsewhere(finished):
    pages = [page(finished), *(finished / "results/smoke/notebooks").glob("*.html")]
    assert len(pages) > 1
    for path in pages:
        assert [load for load in Page(path).loads if not load.startswith("data:")] == [], path
        assert not re.search(r"@import|url\(\s*['\"]?https?:", path.read_text()), path


def test_every_link_leads_somewhere(finished):
    found = Page(page(finished))
    for target in found.targets:
        if target.startswith("#"):
            assert target[1:] in found.ids, target
        else:
            assert (page(finished).parent / target).exists(), target


def test_every_figure_and_claim_is_there(finished):
    config = load({"scale": "smoke"}, finished)
    ids = Page(page(finished)).ids
    for name, paper in config.papers.items():
        assert {f"{name}_{figure}" for figure in paper.raw["figures"]} <= ids
        assert {f"claim-{claim}" for claim in paper.raw["claims"]} <= ids


def test_a_reduced_scale_is_said(finished):
    assert "smoke" in page(finished).read_text().split("<main>")[0]


def test_a_notebook_redraws_any_column_over_any_other(finished):
    results = Results(finished / "results/smoke")
    open_before = plt.get_fignums()
    (ax,) = redrawn(results, "fedsplit_fig1", x="exchanges", only="FedSplit").axes
    assert plt.get_fignums() == open_before  # a cell shows it once
    assert ax.get_xlabel() == "exchanges" and ax.get_yscale() == "log"
    assert ax.lines and all("FedSplit" in label for label in ax.get_legend_handles_labels()[1])
    with pytest.raises(ValueError, match="no column beauty to draw; it has round,"):
        redrawn(results, "fedsplit_fig1", y="beauty")
    with pytest.raises(ValueError, match="no curve of fedsplit_fig1 has 'Newton'"):
        redrawn(results, "fedsplit_fig1", only="Newton")


# --- in a browser, as a reader would ---


@pytest.fixture(scope="module")
def chromium(finished, tmp_path_factory):
    chromium_needed()
    browser = Chromium(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture
def desktop(chromium, finished):
    """The page as it is first seen; loaded anew where a test has left another view of it."""
    chromium.screen(1280, 850)
    if chromium.run("location.href") != page(finished).as_uri():
        chromium.open(page(finished).as_uri())
    return chromium


def chosen(browser, name: str) -> str:
    return browser.run(f"document.querySelector('[data-control={name}]').value")


def curves(browser) -> list[str]:
    return browser.run("[...document.querySelectorAll('.chart path.curve')].map((p) => p.getAttribute('d'))")


def axis(browser, name: str) -> str:
    return browser.run(f"document.querySelector('[data-axis={name}]').textContent")


OVERFLOW = """(() => { const wide = document.documentElement.clientWidth;
  return [...document.querySelectorAll('body *')].filter((n) => !n.closest('svg') && !n.closest('.table') && !n.closest('pre')
    && n.getClientRects().length && n.getBoundingClientRect().right > wide + 1).map((n) => n.outerHTML.slice(0, 120)); })()"""
CONTRAST = """(() => { const rgb = (s) => s.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
  const behind = (n) => { for (; n; n = n.parentElement) { const c = rgb(getComputedStyle(n).backgroundColor);
    if (c.length < 4 || c[3] > .9) return c; } return [255, 255, 255]; };
  const poor = [];
  for (const n of document.querySelectorAll('h1, p, a, li, td, th, summary, button, label, span')) {
    if (!n.getClientRects().length || !n.textContent.trim()) continue;
    const [a, b] = [light(rgb(getComputedStyle(n).color)), light(behind(n))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) poor.push(n.outerHTML.slice(0, 100));
  } return poor; })()"""


@pytest.mark.browser
def test_nothing_is_asked_for_and_nothing_complains(desktop, finished):
    config = load({"scale": "smoke"}, finished)
    for name, paper in config.papers.items():
        for figure in paper.raw["figures"]:
            assert desktop.run(
                f"document.querySelector('#{name}_{figure} svg.drawn')?.getBBox().width > 50"
            ), figure
        for claim in paper.raw["claims"]:
            assert desktop.run(f"!!document.querySelector('#claim-{claim} .strip svg')"), claim
    assert desktop.run("document.querySelectorAll('.matrix .cell').length") == sum(
        len(p.raw["claims"]) for p in config.papers.values()
    )
    missing = "[...document.querySelectorAll('use')].filter((u) => !document.querySelector(u.getAttribute('href'))).length"
    assert desktop.run(missing) == 0
    assert desktop.logged == []
    assert [a for a in desktop.asked if not a.startswith(("data:", page(finished).as_uri(), "blob:"))] == []


@pytest.mark.browser
def test_a_cell_shows_its_claim(desktop):
    desktop.run("document.querySelectorAll('.matrix .cell')[1].focus()")
    claim = desktop.run("document.querySelectorAll('.matrix .cell')[1].getAttribute('href')")
    statement = desktop.run(f"document.querySelector('{claim} .statement').textContent")
    assert desktop.run("document.querySelector('#card .statement').textContent") == statement
    assert desktop.run(
        "!!document.querySelector('#card .strip svg') && !!document.querySelector('#card .verdict')"
    )
    desktop.key("ArrowRight")
    assert desktop.run("document.querySelector('#card .statement').textContent") != statement
    desktop.key("Escape")
    assert desktop.run("document.querySelector('#card').hidden")
    x, y = desktop.run(
        "(() => { const b = document.querySelector('.matrix .cell').getBoundingClientRect(); return [b.x + 5, b.y + 5]; })()"
    )
    desktop.mouse("mouseMoved", x, y)
    assert not desktop.run("document.querySelector('#card').hidden")


@pytest.mark.browser
def test_the_explorer_does_what_its_controls_say(desktop, finished):
    first = chosen(desktop, "paper"), chosen(desktop, "experiment")
    before = curves(desktop)
    assert len(before) > 1 and axis(desktop, "x") == "rounds"
    desktop.choose("[data-control=x]", "floats")
    assert axis(desktop, "x").startswith("floats") and curves(desktop) != before
    desktop.choose("[data-control=x]", "priced")
    assert desktop.run("!document.querySelector('.price').hidden")
    ticks = "[...document.querySelectorAll('.chart .tick[text-anchor=middle]')].map((t) => Number(t.textContent.replaceAll(',', '')))"
    ends = f"Math.max(...{ticks})"
    desktop.choose("[data-control=lat]", 0)
    cheap = desktop.run(ends)
    desktop.choose("[data-control=lat]", 3)
    assert desktop.run("document.querySelector('[data-said=lat]').textContent") == "1,000 ms"
    assert desktop.run(ends) > 10 * cheap
    desktop.choose("[data-control=ly]", False)
    plain = curves(desktop)
    desktop.choose("[data-control=ly]", True)
    assert curves(desktop) != plain
    # hide one, isolate one, show all
    desktop.run("document.querySelector('.legend .toggle').click()")
    assert len(curves(desktop)) == len(before) - 1
    desktop.run("document.querySelectorAll('.legend .only')[1].click()")
    assert len(curves(desktop)) == 1
    address = desktop.run("location.href")
    drawn = curves(desktop)
    # the address alone gives the same view
    desktop.open("about:blank")
    desktop.open(address)
    assert curves(desktop) == drawn and axis(desktop, "x").startswith("priced")
    desktop.run("document.querySelector('[data-save=all]').click()")
    assert len(curves(desktop)) == len(before)
    # another paper
    other = desktop.run("[...document.querySelector('[data-control=paper]').options].at(-1).value")
    desktop.choose("[data-control=paper]", other)
    assert (chosen(desktop, "paper"), chosen(desktop, "experiment")) != first and chosen(
        desktop, "experiment"
    ).startswith(other)
    assert desktop.logged == []


@pytest.mark.browser
def test_values_are_read_from_the_chart_and_taken_away(desktop, finished):
    """The CSV has the numbers of the trace, the reading the ones under the cursor."""
    experiment = desktop.run("document.querySelector('[data-control=experiment]').value")
    desktop.run("document.querySelector('.chart').focus()")
    desktop.key("ArrowRight")
    desktop.key("ArrowRight")
    said = desktop.run("document.querySelector('.reading').textContent")
    assert " over 2 seeds at 1 rounds" in said
    desktop.run("window.kept = []; URL.createObjectURL = (blob) => { window.kept.push(blob); return 'blob:none'; };"
                "HTMLAnchorElement.prototype.click = function () {}")  # fmt: skip
    for kind in ("csv", "svg"):
        desktop.run(f"document.querySelector('[data-save={kind}]').click()")
    table = list(csv.DictReader(io.StringIO(desktop.run("window.kept[0].text()"))))
    picture = desktop.run("window.kept[1].text()")
    ET.fromstring(picture)
    assert picture.count("<path") >= len(curves(desktop))
    measure = next(
        k
        for k in table[0]
        if k not in ("method", "parameters", "setting", "round", "lowest", "highest", "seeds")
    )
    traces = Results(finished / "results/smoke").traces(experiment)
    starts = traces[traces["round"] == 0].groupby(["algorithm", "params"])[measure].median()
    ours = sorted(float(row[measure]) for row in table if float(row["round"]) == 0)
    assert ours == pytest.approx(sorted(starts), rel=1e-5)


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_themes_keep_contrast_and_nothing_overflows(desktop, dark):
    desktop.screen(1280, 850, dark=dark)
    assert desktop.run(CONTRAST) == []
    assert desktop.run(OVERFLOW) == []
    back = desktop.run("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") is not dark


@pytest.mark.browser
def test_on_a_phone(desktop):
    chromium = desktop
    chromium.screen(390, 844, touch=True)
    chromium.run("scrollTo(0, 0)")
    assert chromium.run("document.documentElement.scrollWidth") == 390
    assert chromium.run(OVERFLOW) == []
    x, y = chromium.run(
        "(() => { const b = document.querySelector('.matrix .cell').getBoundingClientRect(); return [b.x + 9, b.y + 9]; })()"
    )
    chromium.tap(x, y)
    chromium.wait("!document.querySelector('#card').hidden")
    assert chromium.run("document.querySelector('#card').getBoundingClientRect().right") <= 390
    chromium.run("document.querySelector('.chart').scrollIntoView({block: 'center'})")
    box = chromium.run(
        "(() => { const b = document.querySelector('.chart').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()"
    )
    assert box[2] <= 390
    place = """(() => { const p = document.querySelector('.chart path.curve'), half = p.getPointAtLength(p.getTotalLength() / 2);
      const q = half.matrixTransform(p.getScreenCTM()); return [q.x, q.y]; })()"""
    chromium.tap(*chromium.run(place))
    chromium.wait("document.querySelector('.reading').textContent.includes(' at ')")


@pytest.mark.browser
def test_it_stands_without_scripts_and_prints(chromium, finished):
    chromium.screen(1280, 850)
    chromium.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.open(page(finished).as_uri())
    finally:
        chromium.call("Emulation.setScriptExecutionDisabled", value=False)
    assert chromium.run("document.querySelector('#explorer').hidden")
    assert chromium.run("document.querySelectorAll('svg.drawn').length") > 10
    chromium.run(
        "document.querySelectorAll('main > section:nth-of-type(n + 3)').forEach((s) => s.remove())"
    )  # one paper is enough
    printed = chromium.pdf()
    assert printed.startswith(b"%PDF") and len(printed) > 20_000


@pytest.mark.browser
def test_notebooks_open_by_themselves(chromium, finished):
    for path in sorted((finished / "results/smoke/notebooks").glob("*.html")):
        chromium.logged.clear(), chromium.asked.clear()
        chromium.screen(390, 844)
        chromium.open(path.as_uri())
        assert (
            chromium.logged == []
            and [a for a in chromium.asked if not a.startswith(("data:", path.as_uri()))] == []
        )
        assert chromium.run(OVERFLOW) == [], path.name


def test_the_network_of_ones_own_has_its_winners(desktop):
    """Sliders below the map: who comes first follows what an exchange costs."""
    said = desktop.run("""(() => {
        const box = document.getElementById("arena-network"), slider = box.querySelector("input");
        slider.value = 1;
        slider.dispatchEvent(new Event("input"));
        return box.querySelector("output").textContent + "|" + box.querySelector("tbody").innerText;
    })()""")
    latency, _, winners = said.partition("|")
    assert latency == "10"
    assert [line.split()[0] for line in winners.splitlines()] == list(CLASSES)
    assert all("%" in line for line in winners.splitlines())
