"""A layout that differs in its last bits, as it does between processes, draws the same bytes."""

import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine

from fedrepro.reporting import figures, panels, style


class Off(ConstrainedLayoutEngine):
    """Beside where it should be, by so many units in the last place."""

    def __init__(self, units: int):
        super().__init__()
        self.units = units

    def execute(self, fig):
        super().execute(fig)
        for ax in fig.axes:
            bounds = np.array(ax.get_position(original=True).bounds)
            ax.set_position(bounds + self.units * np.spacing(bounds))


def drawn(path, units: int) -> bytes:
    with style.applied():
        figure, axes = panels.grid(1, 2)
        for ax in axes.flat:
            ax.plot([0, 1], [0, 1])
        figure.set_layout_engine(Off(units))
    figures.save(figure, path)
    return path.read_bytes()


def test_the_last_bits_of_a_layout_reach_no_file(tmp_path):
    for kind in ("svg", "png"):
        first, second = (drawn(tmp_path / f"{units}.{kind}", units) for units in (0, 3))
        assert first == second
