"""Pieces of page that answer a reader: HTML with a script of its own, shown below the figure of the same name.

`@piece("network")` in a paper's `figures` says that the function, `network(results) -> str`, makes the one below that
figure. Without JavaScript the figure stays alone.
"""

from fedrepro.experiments.registry import Registry

piece = Registry("piece", "figures")
