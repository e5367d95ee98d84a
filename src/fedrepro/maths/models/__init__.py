"""Models of stochastic federations: stacked examples with a loss, its gradient over rows, and a local walk."""
