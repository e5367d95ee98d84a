"""How algorithms are called in figures, tables and sentences: block name in the YAML -> title."""

TITLES = {
    "fedgd": "FedGD",
    "fedgd_limit": "FedGD, closed form (10)",
    "fedprox": "FedProx",
    "fedprox_limit": "FedProx, closed form",
    "fedsplit": "FedSplit",
    "fedsplit_inexact": "FedSplit, inexact",
    "fedsplit_printed": "FedSplit as printed",
    "fedsplit_regularised": "FedSplit, regularised",
    "fedsplit_perturbed": "FedSplit, perturbed",
    # FedHybrid
    "fedh_g": "FedH-G",
    "fedh_k": "FedH-K",
    "fedh_k_settle": "FedH-n/2",
    "fedh_n": "FedH-N",
    "disco": "DiSCO",
    # federated composite optimisation
    "fedavg": "FedAvg",
    "fedavg_subgradient": "FedAvg (subgradient)",
    "fedmid": "FedMiD",
    "fedmid_once": "FedMiD, regularised once",
    "fedmid_osp": "FedMiD-OSP",
    "feddualavg": "FedDualAvg",
    "feddualavg_osp": "FedDualAvg-OSP",
    "centralised": "centralised",
    "local": "local",
    # HyFDCA
    "hyfdca": "HyFDCA",
    "hyfem": "HyFEM",
    "fedavg_hybrid": "FedAvg (hybrid)",
    "hyfdca_refreshed": "HyFDCA, refreshed margins",
    # SHED
    "agd": "AGD",
    "giant": "GIANT",
    "fednl": "FedNL",
    "mont_dec": "Mont-Dec",
    "shed_ls": "SHED-LS",
    "shed_ls_plus": "SHED-LS+",
    "shed": "SHED",
    "fib_shed": "Fib-SHED",
    "fib_shed_plus": "Fib-SHED+",
    "gn_shed": "GN-SHED",
    # the arena
    "fedgd_local": "FedAvg, full gradients",
    "nesterov": "Nesterov",
    "scaffold": "SCAFFOLD",
    "proxskip": "ProxSkip",
    "determinantal": "determinantal averaging",
    "dane": "DANE",
    "fednew": "FedNew",
    "local_newton": "LocalNewton, global search",
    "fednl_topk": "FedNL, Top-k",
    "feddr": "FedDR",
    "fast_feddualavg": "Fast-FedDualAvg",
    "decoupled": "decoupled composite",
    "cocoa": "CoCoA+",
    "shed_full": "SHED, all eigenvectors",
}


def called(algorithm: str) -> str:
    return TITLES.get(algorithm, algorithm)
