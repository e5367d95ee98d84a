"""The picture of a partition counts what is there and says when the data are not real."""

import numpy as np
import pytest

from fedrepro.datasets import Dataset
from fedrepro.datasets.partition import Partition, build
from fedrepro.reporting import partitions


def toy(y, origin="mirror") -> Dataset:
    return Dataset("toy", "Toy digits", np.zeros((len(y), 6)), y, None, None, origin, "0" * 64)


def test_counts_are_clients_by_classes():
    y = np.array([5, 5, 7, 7, 9, 9])
    clients = Partition([np.arange(3), np.arange(3, 6)], None, "toy", "sorted_runs", "mirror", 0, "")
    counts, names = partitions.class_counts(clients, y)
    assert names == ["5", "7", "9"] and counts.tolist() == [[2, 1, 0], [0, 1, 2]]


@pytest.mark.parametrize("y", [np.linspace(0, 1, 400), 1922 + np.arange(400) % 89])
def test_a_response_with_many_values_is_binned_and_no_row_is_lost(y):
    clients = build(toy(y), "sorted_runs", 0, {"clients": 8})
    counts, names = partitions.class_counts(clients, y)
    assert len(names) <= 8 and counts.sum() == 400
    assert [c.argmax() for c in counts] == sorted(c.argmax() for c in counts)


def test_the_picture_is_the_same_twice_and_marks_standins(tmp_path):
    y = np.arange(60) % 3
    for run, origin in (("a", "standin"), ("b", "standin"), ("c", "mirror")):
        data = toy(y, origin)
        clients = build(data, "hybrid", 0, {"clients": "3x2@1"})
        figure = partitions.draw(clients, data, "paper.split", "quick")
        partitions.save(figure, tmp_path / f"{run}.svg")
        partitions.save(figure, tmp_path / f"{run}.png")
    texts = [(tmp_path / f"{run}.svg").read_text() for run in "abc"]
    assert texts[0] == texts[1]
    assert "STAND-IN" in texts[0] and "STAND-IN" not in texts[2]
    assert "Toy digits, scale quick" in texts[2] and "of 6 columns" in texts[2]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
