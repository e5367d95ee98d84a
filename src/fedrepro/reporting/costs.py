"""The price of a run as a picture: CPU time by paper and experiment, and the time it takes on more cores."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fedrepro.reporting import panels, style

SHADES = (style.BLUE, style.ORANGE, style.GREEN, style.RED, style.PURPLE, style.TEAL, style.WINE, style.GREY)


def picture(parts: pd.DataFrame, minutes: dict[int, float], missing: int) -> Figure:
    """`parts` has a line for every part of every paper; `minutes` tells how long all takes on some cores."""
    with style.applied():
        figure, ((left, right),) = panels.grid(1, 2)
        papers = list(dict.fromkeys(parts["paper"]))
        for place, (paper, shade) in enumerate(zip(papers, SHADES, strict=False)):
            found = parts[parts["paper"] == paper].sort_values("cpu_minutes", ascending=False)
            starts = found["cpu_minutes"].cumsum() - found["cpu_minutes"]
            left.barh(
                [place] * len(found),
                found["cpu_minutes"],
                left=starts,
                color=shade,
                edgecolor="white",
                lw=0.8,
            )
            left.text(
                found["cpu_minutes"].sum(),
                place,
                f" {found['cpu_minutes'].sum():.3g}",
                va="center",
                fontsize=8.5,
            )
        left.set_yticks(range(len(papers)), papers)
        left.invert_yaxis()
        left.margins(x=0.12)
        left.grid(axis="y", visible=False)
        left.set_xlabel("CPU minutes, a piece for every experiment")
        cores = np.array(list(minutes))
        right.loglog(cores, list(minutes.values()), "o-", color=style.BLUE, label="this run's jobs")
        right.loglog(
            cores, minutes[cores[0]] / cores, ls=style.DASHES[2], color=style.GREY, label="work / cores"
        )
        right.set_xticks(cores, cores)
        right.minorticks_off()
        right.set_xlabel("cores")
        right.set_ylabel("minutes")
        right.legend()
        if missing:
            figure.suptitle(f"{missing} jobs left no record of their cost", fontsize=8.5, color=style.WARNING)
        style.plain_powers(figure)
    return figure
