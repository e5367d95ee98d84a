"""Stepsizes written as the papers write them: `1/L*`, `2/(l*+L*)`, `1/sqrt(l*L*)`.

l* and L* are min_j ℓ_j and max_j L_j over the clients (Pathak & Wainwright, eq. 14); l_F and L_F are the
constants of the averaged objective (1/m)Σ f_j, which no client knows by itself.
"""

import math
import re
from typing import Annotated

from fedrepro.maths.domains import Form

RULES = {
    "L*": lambda c: c["L*"],
    "l*": lambda c: c["l*"],
    "(l*+L*)": lambda c: c["l*"] + c["L*"],
    "sqrt(l*L*)": lambda c: (c["l*"] * c["L*"]) ** 0.5,
    "L_F": lambda c: c["L_F"],
    "(l_F+L_F)": lambda c: c["l_F"] + c["L_F"],
}


def parse(rule: float | str) -> tuple[float, str | None]:
    """The numerator and the denominator's name (None for a plain number)."""
    if isinstance(rule, (int, float)) and not isinstance(rule, bool):
        return float(rule), None
    match = re.fullmatch(r"([0-9.eE+-]+)/(.+)", str(rule).replace(" ", ""))
    if not match or match[2] not in RULES:
        raise ValueError(f"stepsize '{rule}' is neither a number nor <number>/<one of: {', '.join(RULES)}>")
    return float(match[1]), match[2]


def is_rule(rule) -> bool:
    """Whether it parses, its numerator above zero."""
    try:
        return 0 < parse(rule)[0] < math.inf
    except ValueError:
        return False


Step = Annotated[
    float | str, Form(f"a stepsize: a number above 0, or such a number/<one of: {', '.join(RULES)}>", is_rule)
]


def stepsize(rule: float | str, constants: dict) -> float:
    numerator, name = parse(rule)
    step = numerator if name is None else numerator / RULES[name](constants)
    if not 0 < step < float("inf"):
        raise ValueError(f"stepsize '{rule}' comes to {step}: these clients have l* = {constants.get('l*')}")
    return step
