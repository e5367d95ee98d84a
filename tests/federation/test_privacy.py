"""What the server receives and holds in encrypted runs: no plain dual variable, inner product or change of either."""

import types

import numpy as np
import pytest

from fedrepro.algorithms.hyfdca import hyfdca
from fedrepro.federation import ciphers
from fedrepro.federation.hybrid import HybridClients, Server

BITS = 256  # short keys keep the tests fast; nothing else hangs on the length
LEAF = (str, bytes, type, types.ModuleType, np.random.Generator, type(None))


def contents(thing):
    """What an object leads to, one step on: items, attributes, closures, bound objects."""
    if isinstance(thing, dict):
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return list(thing)
    if isinstance(thing, np.ndarray):
        return list(thing.flat) if thing.dtype == object else []
    if isinstance(thing, types.FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        return [*cells, *(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values()]
    if isinstance(thing, types.MethodType | types.BuiltinMethodType):
        return [thing.__self__, getattr(thing, "__func__", None)]
    slots = [s for c in type(thing).__mro__ for s in getattr(c, "__slots__", ()) if isinstance(s, str)]
    return [
        *getattr(thing, "__dict__", {}).values(),
        *(getattr(thing, s) for s in slots if hasattr(thing, s)),
    ]


def reachable(*roots):
    seen, todo = {}, list(roots)
    while todo:
        one = todo.pop()
        if id(one) not in seen and not isinstance(one, LEAF):
            seen[id(one)] = one
            todo += contents(one)
    return list(seen.values())


def vectors(things):
    """All plain real numbers among them, as vectors; numbers that stand alone in one vector."""
    found = [
        np.asarray(a, float).ravel() for a in things if isinstance(a, np.ndarray) and a.dtype.kind == "f"
    ]
    found += [np.array(t, float) for t in things
              if isinstance(t, list | tuple) and t and all(isinstance(v, float) for v in t)]  # fmt: skip
    alone = [float(v) for v in things if isinstance(v, float | np.floating)]
    return [v for v in (*found, np.array(alone)) if len(v)]


def determined(vector, secret):
    """Whether a secret vector, or a number of it, can be read off: the same value up to float32, or all of them times a
    factor (in a stretch of the vector as long as the secret)."""
    telling = secret[np.abs(secret - np.round(secret)) > 1e-6]  # 0 and 1 may be anything
    if len(telling) and np.isclose(vector[:, None], telling[None], rtol=3e-7, atol=0).any():
        return True
    n = len(secret)
    if len(vector) < n or np.count_nonzero(secret) < 3:
        return False
    stretches = np.lib.stride_tricks.sliding_window_view(vector, n)
    lengths = np.linalg.norm(stretches, axis=1) * np.linalg.norm(secret)
    return bool(np.any((np.abs(stretches @ secret) > (1 - 1e-9) * lengths) & (lengths > 0)))


class Watched(HybridClients):
    """A federation whose server's messages are all recorded, and whose clients' secrets are, by an observer."""

    def __init__(self, data, leak=None, **more):
        super().__init__(data, **more)
        self.messages, self.secrets, self.leak = [], [], leak
        for name in [n for n, f in vars(Server).items() if callable(f) and not n.startswith("__")]:
            setattr(self.server, name, self.recording(getattr(self.server, name)))

    def recording(self, method):
        watched = self.messages

        def call(*args):
            watched.append(args)
            return method(*args)

        return call

    def collect_duals(self, changes):
        self.secrets += [v for k, c in changes.items() for v in self.data.split(self.data.clients[k], c)]
        self.secrets += [*self.alpha, *self.margins]
        if self.leak:
            self.leak(self, changes)
        super().collect_duals(changes)

    def secure_inner_product(self, who):
        self.secrets += [self.data.clients[k].X @ self.w[k] for k in who]
        super().secure_inner_product(who)

    def leaks(self):
        seen = vectors(reachable(self.server, self.messages))
        return [s for s in self.secrets if np.abs(s).max() > 1e-9 and any(determined(v, s) for v in seen)]


@pytest.fixture
def watched(rectangles):
    def go(cipher, leak=None, rounds=3):
        clients = Watched(
            rectangles(2, 2, lam=0.1, n=14, m=10), leak, cipher=cipher, bits=BITS, fraction=0.75
        )
        for _ in zip(range(rounds), hyfdca(clients, inner=5), strict=False):
            pass
        assert len(clients.secrets) > 20 and len(clients.messages) > 20
        return clients

    return go


@pytest.mark.parametrize("cipher", ["paillier", "ckks"])
def test_nothing_the_server_sees_determines_a_secret(watched, cipher):
    assert watched(cipher).leaks() == []


def test_without_a_cipher_everything_is_seen(watched):
    assert len(watched("none").leaks()) > 10


LEAKS = {
    "the change itself": lambda c, changes: c.server.__dict__.update(seen=list(changes.values())),
    "a dual in a message": lambda c, changes: c.server.keep_products(0, ["extra"], [next(iter(changes.values()))]),
    "an inner product": lambda c, changes: c.server.products[0].update(extra=c.margins[c.last[0]]),
    "scaled": lambda c, changes: c.server.__dict__.update(seen=[-7.3 * v for v in changes.values()]),
    "scaled, inside a longer vector": lambda c, changes: c.server.__dict__.update(
        seen=[np.r_[1.0, 0.1 * v, 2.0] for v in changes.values()]
    ),
    "float32": lambda c, changes: c.server.__dict__.update(seen=[v.astype("f4") for v in changes.values()]),
    "a Python float": lambda c, changes: c.server.__dict__.update(
        seen={float(v[np.argmax(np.abs(v))]) for v in changes.values()}
    ),
    "Python floats": lambda c, changes: c.server.__dict__.update(seen=[v.tolist() for v in changes.values()]),
    "a closure": lambda c, changes: setattr(c.server, "hook", lambda: changes),
    "a default argument": lambda c, changes: setattr(c.server, "hook", lambda seen=changes: seen),
    "a bound method": lambda c, changes: setattr(c.server, "hook", next(iter(changes.values())).sum),
}  # fmt: skip


@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_found(watched, leak):
    assert watched("ckks", LEAKS[leak], rounds=2).leaks()


# --- keys ---


@pytest.mark.parametrize("cipher", ["paillier", "ckks"])
def test_no_secret_key_can_be_reached_from_the_server(watched, cipher):
    clients = watched(cipher)
    held = reachable(clients.server, clients.messages)
    kinds = {type(one).__name__ for one in held}
    assert not kinds & {"PaillierPrivateKey", "Paillier", "Ckks", "SecretKey", "HybridClients", "Watched"}
    contexts = [one for one in held if type(one).__name__ == "Context"]
    assert not any(context.is_private() for context in contexts)
    assert contexts if cipher == "ckks" else "EncryptedNumber" in kinds
    for box in clients.server.duals:
        with pytest.raises((AttributeError, ValueError)):
            box[0].decrypt()


def test_it_is_found_where_there_is_one(watched):
    clients = watched("ckks", lambda c, changes: setattr(c.server, "open", c.cipher.decrypt))
    assert "Ckks" in {type(one).__name__ for one in reachable(clients.server)}


# --- encodings ---


def test_paillier_has_one_public_exponent(watched):
    clients = watched("paillier")
    numbers = [
        one for one in reachable(clients.server, clients.messages) if type(one).__name__ == "EncryptedNumber"
    ]
    assert len(numbers) > 100 and {one.exponent for one in numbers} == {ciphers.EXPONENT}
    values = np.array([0.0, 1.0, -1e-9, 1e6])
    cipher = ciphers.make("paillier", BITS)
    assert np.abs(cipher.decrypt(cipher.encrypt(values)) - values).max() <= cipher.tolerance


@pytest.mark.parametrize("name", ["paillier", "ckks"])
def test_what_is_sent_on_is_randomised_again(name):
    cipher = ciphers.make(name, BITS)
    box = cipher.evaluator.add(cipher.encrypt(np.ones(3)), cipher.encrypt(np.ones(3)))
    bare = [(n.ciphertext(False) if name == "paillier" else n.serialize())
            for sent in (box, cipher.evaluator.refresh(box), cipher.evaluator.refresh(box)) for n in sent[:1]]  # fmt: skip
    assert len(set(bare)) == 3
    assert cipher.decrypt(cipher.evaluator.refresh(box)) == pytest.approx(
        2 * np.ones(3), abs=cipher.tolerance
    )


def test_ckks_tells_no_more_than_its_stated_precision():
    cipher = ciphers.make("ckks")
    values = np.random.default_rng(0).standard_normal(100)
    found = cipher.decrypt(cipher.encrypt(values))
    assert np.array_equal(found, np.round(found, ciphers.DIGITS)) and np.array_equal(
        found, np.round(values, ciphers.DIGITS)
    )


def test_the_library_checks_the_security_level():
    """SEAL's own table: 128-bit security at this degree leaves 218 bits, and ours fit."""
    import tenseal

    more = [60, 50, 50, 60]
    assert sum(ciphers.MODULUS) <= 218 < sum(more)
    with pytest.raises(ValueError, match="parameters"):
        tenseal.context(
            tenseal.SCHEME_TYPE.CKKS, poly_modulus_degree=ciphers.DEGREE, coeff_mod_bit_sizes=more
        )
