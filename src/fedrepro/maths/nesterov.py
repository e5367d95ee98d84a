"""Nesterov's accelerated gradient method for smooth and strongly convex functions."""


def accelerate(start, descend, low: float, high: float, tolerance: float, limit: int = 100_000):
    """A point whose every gradient is below the tolerance, for a stack of functions with low ≤ ∇²h ≤ high, and how
    often gradients were taken. `descend(y)` is y − ∇h(y)/high and ‖∇h(y)‖², one for each function."""
    momentum = (high**0.5 - low**0.5) / (high**0.5 + low**0.5)
    x = y = start
    for count in range(1, limit + 1):
        new, squared = descend(y)
        if squared.max() <= tolerance**2:
            return y, count
        x, last = new, x
        y = x + momentum * (x - last)
    raise ArithmeticError(f"accelerated gradients did not come below {tolerance:g} in {limit} steps")
