import gc

import numpy as np
import pytest

from fedrepro import ciphers
from fedrepro.algorithms.hyfdca import hyfdca

BITS = 256  # short keys keep the tests fast; nothing else hangs on the length


@pytest.mark.parametrize("name", ["none", "paillier", "ckks"])
def test_sums_survive_encryption(name):
    cipher = ciphers.make(name, BITS)
    a, b = np.random.default_rng(0).standard_normal((2, 5000 if name == "ckks" else 20))
    total = cipher.decrypt(cipher.evaluator.add(cipher.encrypt(a), cipher.encrypt(b)))
    assert np.abs(total - (a + b)).max() <= cipher.tolerance


@pytest.mark.parametrize("name", ["paillier", "ckks"])
def test_an_encrypted_run_visits_the_same_points(rectangles, run, name):
    data = rectangles(2, 2, n=12, m=6)
    plain, hidden = (
        [w for _, w, _ in run(hyfdca, data, 20, 0.75, {"inner": 3}, cipher=cipher, bits=BITS)]
        for cipher in ("none", name)
    )
    assert np.abs(plain[-1]).max() > 0.1
    assert max(np.abs(a - b).max() for a, b in zip(plain, hidden, strict=True)) < 2e-5


def reachable(thing, depth=6):
    """Everything the server object leads to, by reference."""
    seen, todo = {}, [(thing, 0)]
    while todo:
        one, level = todo.pop()
        if id(one) in seen or level > depth or isinstance(one, (type, str, int, float)) or callable(one):
            continue
        seen[id(one)] = one
        todo += [(other, level + 1) for other in gc.get_referents(one) if not hasattr(other, "__loader__")]
        if isinstance(one, np.ndarray) and one.dtype == object:
            todo += [(other, level + 1) for other in one.flat]
    return seen.values()


@pytest.mark.parametrize("name", ["paillier", "ckks"])
def test_the_server_never_holds_a_plain_dual_or_inner_product(rectangles, run, name):
    data = rectangles(2, 2, n=12, m=6)
    for _, _, clients in run(hyfdca, data, 4, 1.0, {"inner": 6}, cipher=name, bits=BITS):
        secrets = np.concatenate([*clients.alpha, *clients.margins])
        secrets = secrets[np.abs(secrets - np.round(secrets)) > 1e-9]  # 0 and 1 are also indices
        held = list(reachable(clients.server))
        arrays = [a for a in held if isinstance(a, np.ndarray) and a.dtype != object]
        numbers = np.concatenate([np.asarray(a, float).ravel() for a in arrays])
        assert not np.isclose(numbers[:, None], secrets[None], rtol=1e-9, atol=0).any()
        assert not any(
            "PrivateKey" in type(one).__name__ or isinstance(one, ciphers.Paillier | ciphers.Ckks)
            for one in held
        )
        for box in clients.server.duals:
            part = box[0]
            if name == "ckks":
                with pytest.raises(Exception, match="secret"):
                    part.decrypt()
            else:
                assert type(part).__name__ == "EncryptedNumber"
    assert len(secrets) > 4


def test_without_a_cipher_the_check_would_find_them(rectangles, run):
    """The test above can fail: an unencrypted server does hold the duals."""
    data = rectangles(2, 2, n=12, m=6)
    *_, (_, _, clients) = run(hyfdca, data, 4, 1.0, {"inner": 6})
    numbers = np.concatenate(
        [a.ravel() for a in reachable(clients.server) if isinstance(a, np.ndarray) and a.dtype == float]
    )
    secrets = np.concatenate([*clients.alpha, *clients.margins])
    secrets = secrets[np.abs(secrets - np.round(secrets)) > 1e-9]
    assert np.isclose(numbers[:, None], secrets[None], rtol=1e-9, atol=0).any()


def test_measured_times_are_per_scalar():
    times = ciphers.measure(ciphers.make("ckks"), 4096)
    assert 0 < times["add"] < times["encrypt"] < 1e-3
    assert ciphers.PUBLISHED == {"encrypt": 0.018882, "decrypt": 0.018865, "add": 0.000054}


def test_an_unknown_cipher_is_named():
    with pytest.raises(LookupError, match="rot13"):
        ciphers.make("rot13")
