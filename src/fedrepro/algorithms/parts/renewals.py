"""Renewal rules: at which iterations agents recompute their Hessian (Dal Fabbro et al., section 5.1).

A rule is asked once an iteration, `rule(t, norms)`, with t = 1, 2, … and the gradient norms the master has
seen before iteration t. All rules renew at t = 1.
"""

from collections.abc import Callable

Rule = Callable[[int, list[float]], bool]


def rule(name: str, n: int, period: int = 25, b: float = 1.0, reverse: bool = False) -> Rule:
    """The rule called `name` for a parameter of dimension n."""
    known = {
        "once": lambda: lambda t, norms: t == 1,
        "always": lambda: lambda t, norms: True,
        "periodic": lambda: lambda t, norms: t == 1 or t % period == 0,
        "fibonacci": lambda: fibonacci(n),
        "gradient_norm": lambda: gradient_norm(n, b, reverse),
    }
    if name not in known:
        raise ValueError(f"no renewal rule '{name}'; there are {', '.join(known)}")
    return known[name]()


def fibonacci(n: int) -> Rule:
    """I = {C_j}, C_j = F_1 + … + F_j; once C_j has reached n − 1, renewals are n − 1 iterations apart."""
    state = {"next": 1, "gap": 1, "after": 2}  # the next C_j, F_{j+1}, F_{j+2}

    def due(t: int, norms: list[float]) -> bool:
        if t < state["next"]:
            return False
        if state["next"] >= n - 1:
            state["next"] += n - 1
        else:
            state["next"] += state["gap"]
            state["gap"], state["after"] = state["after"], state["gap"] + state["after"]
        return True

    return due


def gradient_norm(n: int, b: float, reverse: bool) -> Rule:
    """Renew where ‖g_t‖ − ‖g_{t−1}‖ < b(‖g_{t−1}‖ − ‖g_{t−2}‖), or (`reverse`) where it is greater, and after n
    iterations in any case. The master compares norms it has, so the word reaches the agents an iteration later.

    Norms fall, so both sides are negative: as printed, a renewal follows an iteration that fell by *more* than b
    times the fall before it; reversed, one that fell by less.
    """
    last = {"t": 0}

    def due(t: int, norms: list[float]) -> bool:
        now = t == 1 or t - last["t"] >= n
        if len(norms) >= 3:
            new, old = norms[-1] - norms[-2], b * (norms[-2] - norms[-3])
            now = now or (new > old if reverse else new < old)
        if now:
            last["t"] = t
        return now

    return due
