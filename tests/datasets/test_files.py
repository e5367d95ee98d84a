"""Files are there whole or not at all."""

import pytest

from fedrepro.datasets.files import written


def test_a_file_appears_when_its_writer_is_done(tmp_path):
    path = tmp_path / "deep/er/a.txt"
    with written(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists() and temporary.suffix == ".txt"
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failing_writer_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write():
        with written(path) as temporary:
            temporary.write_text("ha")
            raise error

    with pytest.raises(type(error)):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_that_writes_nothing_is_an_error_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(FileNotFoundError), written(path):
        pass
    assert path.read_text() == "old"
