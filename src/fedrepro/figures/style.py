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

# Block name in the YAML -> how the algorithm is called and drawn. One colour per algorithm; its variants
# (local steps, inexact solvers) are told apart by the dash.
ALGORITHMS = {
    "fedgd": ("FedGD", BLUE),
    "fedgd_limit": ("FedGD, closed form (10)", BLUE),
    "fedprox": ("FedProx", GREEN),
    "fedprox_limit": ("FedProx, closed form", GREEN),
    "fedsplit": ("FedSplit", RED),
    "fedsplit_inexact": ("FedSplit, inexact", ORANGE),
    "fedsplit_printed": ("FedSplit as printed", PINK),
    "fedsplit_regularised": ("FedSplit, regularised", WINE),
    # FedHybrid
    "fedh_g": ("FedH-G", SKY),
    "fedh_k": ("FedH-K", ORANGE),
    "fedh_k_settle": ("FedH-n/2", ORANGE),
    "fedh_n": ("FedH-N", WINE),
    "disco": ("DiSCO", PURPLE),
    # federated composite optimisation
    "fedavg": ("FedAvg", BLUE),
    "fedavg_subgradient": ("FedAvg (subgradient)", BLUE),
    "fedmid": ("FedMiD", ORANGE),
    "fedmid_osp": ("FedMiD-OSP", OLIVE),
    "feddualavg": ("FedDualAvg", RED),
    "feddualavg_osp": ("FedDualAvg-OSP", PINK),
    "centralised": ("centralised", BLACK),
    "local": ("local", GREY),
    # HyFDCA
    "hyfdca": ("HyFDCA", RED),
    "hyfem": ("HyFEM", GREEN),
    "fedavg_hybrid": ("FedAvg (hybrid)", BLUE),
    "hyfdca_refreshed": ("HyFDCA, refreshed margins", WINE),
    # SHED
    "agd": ("AGD", GREY),
    "giant": ("GIANT", GREEN),
    "fednl": ("FedNL", BLUE),
    "mont_dec": ("Mont-Dec", PURPLE),
    "shed_ls": ("SHED-LS", RED),
    "shed_ls_plus": ("SHED-LS+", WINE),
    "shed": ("SHED", RED),
    "fib_shed": ("Fib-SHED", RED),
    "fib_shed_plus": ("Fib-SHED+", ORANGE),
    "gn_shed": ("GN-SHED", BLACK),
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
    """10⁻³ in plain text: the same label as Matplotlib's, without the cost of typesetting every tick."""

    RAISED = str.maketrans("-−0123456789", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

    def __call__(self, x, pos=None):
        found = re.fullmatch(r"\$\\mathdefault\{(.*?)10\^\{(.*)\}\}\$", text := super().__call__(x, pos))
        if not found:
            return text
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


def label(algorithm: str) -> str:
    return ALGORITHMS.get(algorithm, (algorithm,))[0]


def colour(algorithm: str) -> str:
    """The algorithm's own colour; one that is not listed above gets a spare one, always the same."""
    if algorithm in ALGORITHMS:
        return ALGORITHMS[algorithm][1]
    return SPARE[hashlib.sha256(algorithm.encode()).digest()[0] % len(SPARE)]
