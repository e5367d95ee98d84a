"""Additively homomorphic ciphers for vectors: none, Paillier (phe), CKKS (TenSEAL).

A `Cipher` is what clients share: it encrypts and decrypts. A server gets its `Evaluator` only, which adds
ciphertexts and holds no private key. Vectors are encrypted whole: Paillier scalar by scalar, CKKS in packs of
`SLOTS` values.
"""

import time

import numpy as np

SLOTS = 4096  # CKKS with polynomials of degree 8192

# Seconds per scalar as the paper charges them: Overman et al. section 3.1, after Sidorov, Wei & Ng 2022.
PUBLISHED = {"encrypt": 18.882e-3, "decrypt": 18.865e-3, "add": 0.054e-3}


class Plain:
    """No encryption: the ciphertext is the vector itself. It is also its own evaluator."""

    name = "none"
    tolerance = 0.0

    @property
    def evaluator(self):
        return self

    def encrypt(self, values: np.ndarray):
        return values

    def decrypt(self, box) -> np.ndarray:
        return box

    def add(self, a, b):
        return a + b


class PaillierEvaluator:
    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a + b  # object arrays of EncryptedNumber: entry by entry


class Paillier:
    name = "paillier"
    tolerance = 1e-12

    def __init__(self, bits: int = 2048):
        from phe import paillier

        self._public, self._private = paillier.generate_paillier_keypair(n_length=bits)
        self.evaluator = PaillierEvaluator()

    def encrypt(self, values: np.ndarray) -> np.ndarray:
        out = np.empty(len(values), object)
        out[:] = [self._public.encrypt(float(v)) for v in values]
        return out

    def decrypt(self, box: np.ndarray) -> np.ndarray:
        return np.array([self._private.decrypt(c) for c in box])


class CkksEvaluator:
    def add(self, a: list, b: list) -> list:
        return [x + y for x, y in zip(a, b, strict=True)]


class Ckks:
    """Approximate arithmetic: about eight digits are kept."""

    name = "ckks"
    tolerance = 1e-5

    def __init__(self):
        import tenseal

        self._context = tenseal.context(
            tenseal.SCHEME_TYPE.CKKS, poly_modulus_degree=8192, coeff_mod_bit_sizes=[60, 40, 40, 60]
        )
        self._context.global_scale = 2.0**40
        self._secret = self._context.secret_key()
        self._context.make_context_public()  # ciphertexts travel with a context that cannot decrypt
        self._vector = tenseal.ckks_vector
        self.evaluator = CkksEvaluator()

    def encrypt(self, values: np.ndarray) -> list:
        return [self._vector(self._context, values[i : i + SLOTS]) for i in range(0, len(values), SLOTS)]

    def decrypt(self, box: list) -> np.ndarray:
        return np.concatenate([np.array(part.decrypt(self._secret)) for part in box])


def make(name: str, bits: int = 2048):
    kinds = {"none": Plain, "paillier": lambda: Paillier(bits), "ckks": Ckks}
    if name not in kinds:
        raise LookupError(f"no cipher '{name}'; valid: {', '.join(kinds)}")
    return kinds[name]()


def measure(cipher, size: int) -> dict[str, float]:
    """Seconds per scalar on this machine: encrypt two vectors, add them, decrypt the sum and check it. Processor
    time, so that other work on the machine does not count."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, size))
    clock = [time.process_time()]
    boxes = [cipher.encrypt(a), cipher.encrypt(b)]
    clock.append(time.process_time())
    total = cipher.evaluator.add(*boxes)
    clock.append(time.process_time())
    found = cipher.decrypt(total)
    clock.append(time.process_time())
    if np.abs(found - (a + b)).max() > cipher.tolerance:
        raise ArithmeticError(f"{cipher.name}: the decrypted sum is off by {np.abs(found - a - b).max():.1e}")
    spans = np.diff(clock)
    return {"encrypt": spans[0] / (2 * size), "add": spans[1] / size, "decrypt": spans[2] / size}
