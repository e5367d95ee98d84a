from fault_table import BEGIN, END, Tally


def test_rows_are_renewed_and_others_kept_where_asked_to(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"above\n{BEGIN}{END}below\n")
    first, second = Tally(), Tally()
    first.add("a kill", True, "nothing")
    first.add("a flood", False, "water")
    second.add("a kill", True, "little")
    second.add("a kill", False, "little")
    first.write(path, keep=False)
    second.write(path, keep=True)
    assert "| a flood | 1 | 0 | water |\n" in path.read_text()
    assert "| a kill | 2 | 1 | little |\n" in path.read_text()
    second.write(path, keep=False)
    assert "flood" not in path.read_text() and path.read_text().startswith("above\n")
    assert path.read_text().endswith("below\n")
