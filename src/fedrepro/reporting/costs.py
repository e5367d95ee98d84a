"""The price of a run as a picture and a table: CPU time by paper and experiment, and the time it takes on more cores."""

import io
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fedrepro.reporting import panels, style

SHADES = (style.BLUE, style.ORANGE, style.GREEN, style.RED, style.PURPLE, style.TEAL, style.WINE, style.GREY)


@dataclass(frozen=True)
class Bill:
    """What a run took: a line for every part of every paper, how long all takes on some cores, and how many jobs left
    no record."""

    parts: pd.DataFrame
    minutes: dict[int, float]
    missing: int

    def by_paper(self) -> list[dict]:
        """Jobs, CPU minutes, the longest job and the peak of memory of every paper."""
        groups = self.parts.groupby("paper", sort=False)
        table = groups.agg({"jobs": "sum", "cpu_minutes": "sum", "longest_minutes": "max", "peak_mb": "max"})
        return table.reset_index().to_dict("records")

    def svg(self) -> str:
        buffer = io.StringIO()
        with style.applied():
            picture(self).savefig(buffer, format="svg", metadata={"Date": None})
        return buffer.getvalue()


def picture(bill: Bill) -> Figure:
    parts, minutes, missing = bill.parts, bill.minutes, bill.missing
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
