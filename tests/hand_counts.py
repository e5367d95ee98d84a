"""What each algorithm sends and computes in T = 3 rounds, counted by hand from its box.

Every line is for the small federation of the first kind that suits it (small_federations.py): m clients, d floats a
point, and what else the kind has. A column of the ledger that is not named must be zero.
"""

from small_federations import BATCH, COHORT, COLUMNS, EXAMPLES, ROWS, VALUES, D

T = 3
m, d = 3, D
STEPS = 20  # candidate stepsizes of the line search (Dal Fabbro et al., section 6.2): a loss each

# --- Pathak & Wainwright: a point down to every client, a point up from every client ---
ROUND_TRIP = {"floats_down": T * m * d, "floats_up": T * m * d, "messages": 2 * T * m, "exchanges": T}
LIMIT = {"gradients": m, "hessians": m}  # a closed form: A_jᵀA_j and A_jᵀb_j once, nothing sent

# --- Dal Fabbro et al.: a point down, a gradient up; the line search sends the direction and gathers losses ---
FIRST_ORDER = ROUND_TRIP | {"gradients": T * m, "vectors": T}
EIGENVECTOR = m * d + 2 * m  # one vector each, its eigenvalue and ρ_i, in the gradient's message


def newton_type(hessians: int, vectors: float, up: int) -> dict:
    """Point and direction down; gradient and losses up, and `up` more in all."""
    return {
        "floats_down": 2 * T * m * d, "floats_up": T * m * d + T * m * STEPS + up, "messages": 4 * T * m,
        "exchanges": 2 * T, "gradients": T * m, "hessians": hessians, "vectors": T + vectors,
    }  # fmt: skip


# --- Yuan, Zaheer & Reddi: a cohort of COHORT clients walks through its examples once, in batches ---
WALKS = T * COHORT * (EXAMPLES // BATCH)
COHORTS = {
    "floats_down": T * COHORT * (d + 1), "floats_up": T * COHORT * (d + 1), "messages": 2 * T * COHORT,
    "exchanges": T, "samples": T * COHORT * EXAMPLES, "local_steps": WALKS,
}  # fmt: skip
MEMBERS = 10  # of local_average, each with a full gradient a round

# --- Overman, Blum & Klabjan: 2 x 2 rectangles, so every sample and every feature has two holders ---
K, HELD, KNOWN, LARGEST = (
    4,
    2 * ROWS,
    2 * COLUMNS,
    ROWS // 2,
)  # clients; samples and features over all of them
AVERAGING = {
    "floats_down": T * KNOWN, "floats_up": T * KNOWN, "messages": 2 * T * K, "exchanges": T, "turns": T * K,
    "local_steps": T * K * VALUES["local_steps"],
}  # fmt: skip


def hyfdca() -> dict:
    """At the start ‖x_i‖² is added up once (one sealed exchange). A round then has two: inner products and duals,
    of all samples held; and the weights of all features, in the clear, up and down."""
    sealed = 2 * T + 1  # times that every client encrypts, and decrypts, a scalar for each of its samples
    return {
        "encryptions": sealed * HELD, "decryptions": sealed * HELD, "encryption_steps": sealed,
        "decryption_steps": sealed, "slowest_encryptions": sealed * LARGEST, "slowest_decryptions": sealed * LARGEST,
        "floats_up": sealed * HELD + T * KNOWN, "floats_down": sealed * HELD + T * KNOWN,
        "messages": 2 * sealed * K + 2 * T * K, "exchanges": sealed + T, "turns": T * K,
        "local_steps": T * K * VALUES["inner"],
        # of two pieces each: the squares once and the products a round; a change to the duals of each sample held
        "additions": ROWS + T * ROWS + T * HELD,
    }  # fmt: skip


def disco(ledger: dict) -> dict:
    """A gradient a round; then every step of the conjugate gradients is a product of all clients' Hessians, a
    vector down and a vector up. How many there are is the tolerance's to say: at most 2d a round, one at least."""
    inner = ledger["products"] // m
    assert T <= inner <= 2 * d * T
    trips = T + inner
    return {
        "floats_down": trips * m * d, "floats_up": trips * m * d, "messages": 2 * trips * m, "exchanges": trips,
        "gradients": T * m, "hessians": T, "products": inner * m,
    }  # fmt: skip


def proxskip(ledger: dict) -> dict:
    """The start down once; then a point up and the mean down wherever the coin says so, T times. In between every
    client takes as many gradients as coins were thrown: one a round at least."""
    thrown = ledger["gradients"] // m
    assert thrown >= T
    return ROUND_TRIP | START_DOWN | {"gradients": thrown * m}


# Clients who keep x themselves are told the start, and then what the mean is.
START_DOWN = {"floats_down": (T + 1) * m * d, "messages": (2 * T + 1) * m, "exchanges": T + 1}
WHOLE = K * COLUMNS  # weights of all features at clients who hold whole samples

# Hyper-parameters other than those of the other tests, where the defaults draw lots.
PARAMS = {"mont_dec": {"increment": 1}}

COUNTS = {
    "fedgd": ROUND_TRIP | {"gradients": T * m},  # e = 1 local step
    "fedprox": ROUND_TRIP | {"proxes": T * m},
    "fedsplit": ROUND_TRIP | {"proxes": T * m},
    "fedsplit_printed": ROUND_TRIP | {"proxes": T * m},  # eq. (13)
    "fedsplit_perturbed": ROUND_TRIP | {"proxes": T * m},
    "fedsplit_regularised": ROUND_TRIP | {"proxes": T * m},  # the added term is folded into the prox
    "fedgd_limit": LIMIT,
    "fedprox_limit": LIMIT,
    # Niu & Wei, Algorithm 1: x_0 down; x_i and λ_i up, in one message; here all clients are Newton-type
    "fedhybrid": ROUND_TRIP | {"floats_up": 2 * T * m * d, "gradients": T * m, "hessians": T * m},
    "disco": disco,
    "agd": FIRST_ORDER,
    "nesterov": FIRST_ORDER,
    # GIANT: the global gradient down and Newton directions up are an exchange of their own
    "giant": newton_type(T * m, T, T * m * d)
    | {"floats_down": 3 * T * m * d, "messages": 6 * T * m, "exchanges": 3 * T},
    # FedNL: H_i⁰ in full, n vectors; then a vector and its factor a round; at θ⁰ the Hessian is known already
    "fednl": newton_type(T * m, d + T, m * d * d + T * (m * d + m)),
    # SHED: renewals at C_1 = 1 and C_2 = 2 of the Fibonacci sums 1, 2, 4, …; one eigenvector a round
    "shed": newton_type(2 * m, T, T * EIGENVECTOR),
    "mont_dec": newton_type(T * m, T, T * EIGENVECTOR),  # a renewal in every round
    # SHED-LS: one Hessian for ever, and no line search
    "shed_ls": FIRST_ORDER | {"floats_up": T * m * d + T * EIGENVECTOR, "hessians": m, "vectors": 2 * T},
    "fedavg": COHORTS,
    "fedavg_subgradient": COHORTS,
    "fedmid": COHORTS | {"proxes": WALKS},  # Algorithm 2, line 8
    "fedmid_osp": COHORTS,  # only the server's, which is not a client's work
    "feddualavg": COHORTS | {"proxes": WALKS},  # Algorithm 3, line 9
    "feddualavg_osp": COHORTS,
    "centralised": {"gradients": T, "samples": T * 12 * EXAMPLES},
    "local": {"gradients": T, "samples": T * EXAMPLES},
    "local_average": {"gradients": T * MEMBERS, "samples": T * MEMBERS * EXAMPLES},
    # SCAFFOLD: point and control in one message, ten local steps
    "scaffold": ROUND_TRIP
    | {"floats_down": 2 * T * m * d, "floats_up": 2 * T * m * d, "gradients": 10 * T * m},
    "proxskip": proxskip,
    "fednew": ROUND_TRIP | START_DOWN | {"gradients": T * m, "hessians": T * m},
    # LocalNewton: a point up; then the mean direction down and a loss for each stepsize up
    "local_newton": newton_type(T * m, 0, 0) | {"vectors": 0},
    # DANE: gradients up and their mean down, then points up
    "dane": {
        "floats_down": 2 * T * m * d,
        "floats_up": 2 * T * m * d,
        "messages": 4 * T * m,
        "exchanges": 2 * T,
        "gradients": T * m,
        "proxes": T * m,
    },
    # FedNL with Top-n: H_i⁰ in full, then n entries a round and their places
    "fednl_topk": newton_type(T * m, d, m * d * d + T * 2 * m * d),
    "feddr": COHORTS,  # the prox of ψ is the server's
    "fast_feddualavg": COHORTS | {"proxes": WALKS},
    "decoupled": COHORTS | {"proxes": WALKS},
    # CoCoA+: weights down, their changes up; duals stay
    "cocoa": {
        "floats_down": T * WHOLE,
        "floats_up": T * WHOLE,
        "messages": 2 * T * K,
        "exchanges": T,
        "turns": T * K,
        "local_steps": T * K * VALUES["inner"],
    },
    "hyfdca": hyfdca(),
    "fedavg_hybrid": AVERAGING,
    "hyfem": AVERAGING,
}
