"""How our figures look: one colour for an algorithm everywhere, safe for colour-blind readers."""

import hashlib
import re

import matplotlib as mpl
from matplotlib.ticker import LogFormatterSciNotation

WARNING = "#B22222"
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PINK, GREY = (  # Okabe & Ito 2008, yellow replaced by a readable grey
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F",
)  # fmt: skip
PURPLE, OLIVE, WINE, TEAL = "#5D3A9B", "#8A7D00", "#882255", "#117777"

COLOURS = {  # one colour per algorithm; its variants (local steps, inexact solvers) are told apart by the dash
    "fedgd": BLUE,
    "fedgd_limit": BLUE,
    "fedprox": GREEN,
    "fedprox_limit": GREEN,
    "fedsplit": RED,
    "fedsplit_inexact": ORANGE,
    "fedsplit_printed": PINK,
    "fedsplit_regularised": WINE,
    "fedh_g": SKY,
    "fedh_k": ORANGE,
    "fedh_k_settle": ORANGE,
    "fedh_n": WINE,
    "disco": PURPLE,
    "fedavg": BLUE,
    "fedavg_subgradient": BLUE,
    "fedmid": ORANGE,
    "fedmid_once": TEAL,
    "fedmid_osp": OLIVE,
    "feddualavg": RED,
    "feddualavg_osp": PINK,
    "centralised": BLACK,
    "local": GREY,
    "hyfdca": RED,
    "hyfem": GREEN,
    "fedavg_hybrid": BLUE,
    "hyfdca_refreshed": WINE,
    "agd": GREY,
    "giant": GREEN,
    "fednl": BLUE,
    "mont_dec": PURPLE,
    "shed_ls": RED,
    "shed_ls_plus": WINE,
    "shed": RED,
    "fib_shed": RED,
    "fib_shed_plus": ORANGE,
    "gn_shed": BLACK,
    "scaffold": ORANGE,
    "proxskip": PINK,
    "fednew": OLIVE,
    "local_newton": "#A0522D",
    "dane": TEAL,
    "nesterov": BLACK,
    "fednl_topk": SKY,
    "determinantal": "#66A61E",
    "fedgd_local": "#4C78A8",
    "feddr": GREEN,
    "fast_feddualavg": PURPLE,
    "decoupled": BLACK,
    "cocoa": ORANGE,
    "shed_full": RED,
}
SPARE = (SKY, PURPLE, OLIVE, TEAL, PINK, GREY)
DASHES = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
WIDTH, HEIGHT = 5.0, 3.6  # inches, of one panel

RC = {
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.09,
    "svg.hashsalt": "fedrepro",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


def applied():
    return mpl.rc_context(RC)


class PlainPowers(LogFormatterSciNotation):
    """10⁻³ in plain text: the same label as Matplotlib's, without the cost of typesetting every tick. Where an axis has fewer
    than two decades near 1, as ratios have, its labels are plain numbers: 0.6 and not 6×10⁻¹."""

    RAISED = str.maketrans("-−0123456789", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

    def __call__(self, x, pos=None):
        found = re.fullmatch(r"\$\\mathdefault\{(.*?)10\^\{(.*)\}\}\$", text := super().__call__(x, pos))
        if not found:
            return text
        low, high = sorted(self.axis.get_view_interval())
        if high < 100 * low and low > 1e-3 and high < 1e4:
            return f"{x:g}"
        factor = found[1].replace(r"\times", "×")
        return f"{factor}10{found[2].translate(self.RAISED)}"


def plain_powers(figure) -> None:
    """Give every logarithmic axis of a figure its labels in plain text."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for kind in ("major", "minor"):
                current = getattr(axis, f"get_{kind}_formatter")()
                if type(current) is LogFormatterSciNotation:
                    getattr(axis, f"set_{kind}_formatter")(PlainPowers(minor_thresholds=current.minor_thresholds,
                        labelOnlyBase=current.labelOnlyBase))  # fmt: skip


def colour(algorithm: str) -> str:
    """The algorithm's own colour; one that is not listed above gets a spare one, always the same."""
    if algorithm in COLOURS:
        return COLOURS[algorithm]
    return SPARE[hashlib.sha256(algorithm.encode()).digest()[0] % len(SPARE)]
