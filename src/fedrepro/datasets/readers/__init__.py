"""File formats, read into arrays; which dataset is in them is not known here."""
