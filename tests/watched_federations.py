"""Federations that notice what reaches the server without being sent.

What clients compute is a `Private` array, and so is everything made of it, until it is collected or averaged: then it has
been counted, and is anybody's. A server's point that is still private, or a private one that is sent down, was not
paid for. The clients' costs and examples are theirs alone: an algorithm that asks for them is refused.

What NumPy hands on as plain arrays (an entry as a float, an assignment into another array) is not noticed.
"""

import sys

import numpy as np

from fedrepro.federation.agents import Agents
from fedrepro.federation.clients import Clients
from fedrepro.federation.cohorts import Cohort, SampledClients
from fedrepro.federation.complete import CompleteClients
from fedrepro.federation.protocol import Federation
from small_federations import small

LOCAL = {  # what clients compute
    Clients: (
        "gradients",
        "hessians",
        "prox",
        "prox_by_gradient",
        "prox_by_acceleration",
        "values",
        "products",
    ),
    Cohort: ("mirror_descent", "dual_averaging", "subgradient_descent", "local_steps"),
}
SENT = {
    Clients: ("collect", "average", "mean_gradient", "consensus"),
    Cohort: ("average",),
}  # counted on the way
OWN = {"costs", "pooled", "model"}  # of the clients


class NotSent(AssertionError):
    """The server knows something that no client sent it."""


class Private(np.ndarray):
    """Numbers that are at a client."""


def private(value):
    return np.asarray(value).view(Private) if isinstance(value, np.ndarray) else value


def plain(value):
    return value.view(np.ndarray) if isinstance(value, Private) else value


def wrapped(method, before=lambda v: v, after=lambda v: v):
    return lambda *args, **more: after(method(*map(before, args), **{k: before(v) for k, v in more.items()}))


def receiving(method):
    def receive(x):
        if isinstance(x, Private):
            raise NotSent("the server sends on what it was not sent: collect or average it first")
        return method(x)

    return receive


def watch(thing, base):
    """Mark what these clients compute, and take the mark off what they send."""
    for name in LOCAL[base]:
        if getattr(thing, name, None) is not None:
            setattr(thing, name, wrapped(getattr(thing, name), after=private))
    for name in SENT[base]:
        if getattr(thing, name, None) is not None:
            setattr(thing, name, wrapped(getattr(thing, name), before=plain, after=plain))
    thing.receive = receiving(thing.receive)
    return thing


def guarded(federation: Federation) -> Federation:
    """The same federation, which does not give an algorithm what is its clients'."""
    kind = type(federation)

    def look(self, name):
        if name in OWN and sys._getframe(1).f_globals["__name__"].startswith("fedrepro.algorithms"):
            raise NotSent(f"the algorithm reads the clients' own {name}")
        return object.__getattribute__(self, name)

    federation.__class__ = type(kind.__name__, (kind,), {"__getattribute__": look})
    return federation


WATCHED = (Clients, Agents, CompleteClients, SampledClients)


def watched(kind: type[Federation]) -> Federation:
    """A small federation of this kind, watched."""
    made = small(kind)
    if kind is SampledClients:
        sample = made.sample
        made.sample = lambda: watch(sample(), Cohort)
    else:
        watch(made, Clients)
    return guarded(made)
