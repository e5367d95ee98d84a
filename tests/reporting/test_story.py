"""The story on the page: the notebook in short."""

from fedrepro.reporting.page import closed, in_short


def test_the_beginning_is_kept_and_of_every_section_a_sentence():
    assert (
        in_short("# A method, replicated\n\nFirst. This notebook reads and solves nothing. Last.")
        == "First. Last."
    )
    assert in_short("## Rates (figure 1.2)\n\nWith $a.b$ and `c. d`, 0.5 is half: enough. More.") == (
        "#### Rates (figure 1.2)\n\nWith $a.b$ and `c. d`, 0.5 is half: enough."
    )
    assert in_short("## Bare").strip() == "#### Bare"
    assert in_short("It goes on. And on.") == ""


def test_a_section_without_a_figure_stays_in_the_notebook():
    intro, tables, curves, figure = {"prose": "a"}, {"prose": "b"}, {"prose": "c"}, {"figure": {}}
    assert closed([intro, tables, curves, figure, tables]) == [intro, curves, figure]
