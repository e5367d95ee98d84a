"""Additively homomorphic ciphers for vectors: none, Paillier (phe), CKKS (TenSEAL).

A `Cipher` is what clients share: it encrypts and decrypts. A server gets its `Evaluator` only, which adds
ciphertexts, re-randomises what it sends on (`refresh`) and holds no private key. Vectors are encrypted whole: Paillier
scalar by scalar, CKKS in packs of `SLOTS` values.
"""

import time
from fractions import Fraction

import numpy as np

# Paillier: fixed-point with one public exponent, so that a ciphertext's exponent says nothing of its magnitude.
EXPONENT = -16  # of phe's base, 16: steps of 2^-64

# CKKS: 200 bits of coefficient modulus; SEAL's table allows 218 for 128-bit security at this degree and refuses more.
DEGREE, MODULUS, SCALE = 8192, (60, 40, 40, 60), 2.0**40
SLOTS = DEGREE // 2
DIGITS = 6  # decimals kept of a decryption: below them lies the noise, which would tell of the secret key

# Seconds per scalar as the paper charges them: Overman et al. section 3.1, after Sidorov, Wei & Ng 2022.
PUBLISHED = {"encrypt": 18.882e-3, "decrypt": 18.865e-3, "add": 0.054e-3}


WORKS = ("encrypt", "decrypt", "add", "refresh")


def clocked(cipher, spent: dict[str, float]) -> list:
    """What WORKS name, each adding the CPU seconds it takes to `spent`."""

    def timed(work, function):
        def call(*args):
            begin = time.process_time()
            found = function(*args)
            spent[work] += time.process_time() - begin
            return found

        return call

    functions = (cipher.encrypt, cipher.decrypt, cipher.evaluator.add, cipher.evaluator.refresh)
    return [timed(work, function) for work, function in zip(WORKS, functions, strict=True)]


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

    def refresh(self, box):
        return box


class PaillierEvaluator:
    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a + b  # object arrays of EncryptedNumber: entry by entry

    def refresh(self, box: np.ndarray) -> np.ndarray:
        """The same numbers in ciphertexts that cannot be told from fresh ones."""
        fresh = box + 0  # new objects
        for number in fresh:
            number.obfuscate()
        return fresh


class Paillier:
    name = "paillier"
    tolerance = 1e-12

    def __init__(self, bits: int = 2048):
        from phe import EncodedNumber, paillier

        self._public, self._private = paillier.generate_paillier_keypair(n_length=bits)
        self._encoded = EncodedNumber
        self.evaluator = PaillierEvaluator()

    def encrypt(self, values: np.ndarray) -> np.ndarray:
        out = np.empty(len(values), object)
        out[:] = [self._public.encrypt_encoded(self.fixed_point(v), None) for v in values]
        return out

    def fixed_point(self, value: float):
        steps = round(Fraction(float(value)) * self._encoded.BASE**-EXPONENT)
        return self._encoded(self._public, steps % self._public.n, EXPONENT)

    def decrypt(self, box: np.ndarray) -> np.ndarray:
        return np.array([self._private.decrypt(c) for c in box])


class CkksEvaluator:
    def __init__(self, zero):
        self._zero = zero  # size -> an encryption of zeros, made with the public key

    def add(self, a: list, b: list) -> list:
        return [x + y for x, y in zip(a, b, strict=True)]

    def refresh(self, box: list) -> list:
        return [part + self._zero(part.size()) for part in box]


class Ckks:
    """Approximate arithmetic: decryptions are rounded to `DIGITS` decimals before anybody computes with them."""

    name = "ckks"
    tolerance = 1e-6

    def __init__(self):
        import tenseal

        self._context = tenseal.context(
            tenseal.SCHEME_TYPE.CKKS, poly_modulus_degree=DEGREE, coeff_mod_bit_sizes=list(MODULUS)
        )
        self._context.global_scale = SCALE
        self._secret = self._context.secret_key()
        self._context.make_context_public()  # ciphertexts travel with a context that cannot decrypt
        self._vector = tenseal.ckks_vector
        context, vector = self._context, self._vector  # public: no way back from here to the secret key
        self.evaluator = CkksEvaluator(lambda size: vector(context, [0.0] * size))

    def encrypt(self, values: np.ndarray) -> list:
        return [self._vector(self._context, values[i : i + SLOTS]) for i in range(0, len(values), SLOTS)]

    def decrypt(self, box: list) -> np.ndarray:
        return np.round(np.concatenate([part.decrypt(self._secret) for part in box]), DIGITS)


def make(name: str, bits: int = 2048):
    kinds = {"none": Plain, "paillier": lambda: Paillier(bits), "ckks": Ckks}
    if name not in kinds:
        raise LookupError(f"no cipher '{name}'; valid: {', '.join(kinds)}")
    return kinds[name]()


def measure(cipher, size: int, times: int = 5) -> dict[str, float]:
    """CPU seconds per scalar on this machine: encrypt two vectors, add them, re-randomise the sum, decrypt it and check
    it. The median of so many times, after one that does not count."""
    a, b = np.random.default_rng(0).standard_normal((2, size))
    spans = []
    for _ in range(1 + times):
        spans.append(dict.fromkeys(WORKS, 0.0))
        encrypt, decrypt, add, refresh = clocked(cipher, spans[-1])
        off = np.abs(decrypt(refresh(add(encrypt(a), encrypt(b)))) - (a + b)).max()
        if off > cipher.tolerance:
            raise ArithmeticError(f"{cipher.name}: the decrypted sum is off by {off:.1e}")
    vectors = {"encrypt": 2}
    return {
        work: float(np.median([span[work] for span in spans[1:]])) / (vectors.get(work, 1) * size)
        for work in WORKS
    }
