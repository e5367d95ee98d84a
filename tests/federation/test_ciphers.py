import time

import numpy as np
import pytest

from fedrepro.algorithms.hyfdca import hyfdca
from fedrepro.federation import ciphers
from fedrepro.federation.hybrid import HybridClients

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


def test_measured_times_are_per_scalar():
    times = ciphers.measure(ciphers.make("ckks"), 4096)
    assert 0 < times["add"] < times["encrypt"] < 1e-3 and times["refresh"] > 0
    assert ciphers.PUBLISHED == {"encrypt": 0.018882, "decrypt": 0.018865, "add": 0.000054}


def test_an_unknown_cipher_is_named():
    with pytest.raises(LookupError, match="rot13"):
        ciphers.make("rot13")


@pytest.mark.parametrize("name", ["paillier", "ckks"])
def test_the_clocks_of_solver_and_cipher_agree(rectangles, name):
    """What a run takes longer than in the clear is what the cipher says it took, within a fifth, on a busy machine too."""
    data = rectangles(2, 2, n=12, m=6)
    spans = {}
    for cipher in ("none", "none", name):  # the first loads what is compiled
        clients = HybridClients(data, fraction=0.75, cipher=cipher, bits=512)
        before, begin = sum(clients.spent.values()), time.process_time()
        for _ in zip(range(20), hyfdca(clients, inner=3), strict=False):
            pass
        spans[cipher] = time.process_time() - begin
    assert sum(clients.spent.values()) - before == pytest.approx(spans[name] - spans["none"], rel=0.2)
    assert min(clients.spent.values()) > 0
