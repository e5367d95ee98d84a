"""The arena's problems: smooth, composite, hybrid."""
