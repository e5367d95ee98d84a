"""What clients offer follows from their class alone."""

import numpy as np
import pytest

from fedrepro.federation.agents import Agents
from fedrepro.federation.clients import Clients
from fedrepro.federation.cohorts import SampledClients
from fedrepro.federation.hybrid import HybridClients
from fedrepro.federation.primal_dual import PrimalDualClients
from fedrepro.federation.protocol import Federation, oracle
from fedrepro.federation.wide import WideClients
from small_federations import KINDS, all_kinds, small

SMOOTH = {"value", "gradient", "hessian", "prox"}


@pytest.mark.parametrize(
    "kind, has, lacks",
    [
        (Clients, SMOOTH, {"pooled", "curvature", "cohort", "rectangles"}),
        (WideClients, {"gradient", "prox"}, {"value", "hessian"}),
        (Agents, SMOOTH | {"pooled"}, {"curvature", "cohort"}),
        (PrimalDualClients, {"value", "gradient", "hessian", "curvature", "pooled"}, {"prox"}),
        (SampledClients, {"cohort", "gathered"}, SMOOTH),
        (HybridClients, {"rectangles"}, SMOOTH | {"cohort"}),
    ],
)
def test_offers(kind, has, lacks):
    assert has <= kind.offers() and lacks.isdisjoint(kind.offers())
    assert small(kind).offers() == kind.offers()  # an instance has no more and no less


def test_every_kind_of_clients_is_among_the_small_ones():
    assert all_kinds() == set(KINDS)


class Parent(Federation):
    @oracle("telepathy")
    def read(self):
        return self.start


class Child(Parent):
    @oracle("patience")
    def wait(self):
        return self.m


class Deaf(Child):
    read = None


def test_offers_are_inherited_added_to_and_withdrawn():
    assert Federation.offers() == frozenset()
    assert Parent.offers() == {"telepathy"}
    assert Child.offers() == {"telepathy", "patience"}
    assert Deaf.offers() == {"patience"}


def test_an_override_keeps_the_mark():
    class Loud(Parent):
        def read(self):
            return 2 * self.start

    class Back(Deaf):
        def read(self):
            return self.start

    assert Loud.offers() == {"telepathy"}
    assert Back.offers() == {"telepathy", "patience"}


def test_every_federation_starts_with_an_empty_ledger_of_its_own():
    one, other = (Federation(3, np.zeros(2)) for _ in range(2))
    one.ledger.down(6, 3)
    assert one.ledger.floats_down == 6 and other.ledger.floats_down == 0


def test_stepsizes_refer_to_the_problems_constants():
    assert Federation(3, np.zeros(2), {"L*": 4.0}).step("1/L*") == 0.25
    with pytest.raises(KeyError):
        Federation(3, np.zeros(2)).step("1/L*")
