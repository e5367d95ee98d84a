"""From results to the reader: verdicts, panels, tables, notebooks and the page; no paper is known by name."""
