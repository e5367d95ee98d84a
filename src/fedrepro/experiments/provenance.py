"""Where a result came from: versions, commit, machine."""

import hashlib
import json
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def commit() -> str:
    """The commit of the checkout this library lies in, marked when the tree has changes; '' outside git."""
    here = Path(__file__).resolve().parent
    try:
        out = [
            subprocess.run(["git", "-C", str(here), *words], capture_output=True, text=True, timeout=10, check=True).stdout.strip()
            for words in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        ]  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return out[0] + ("+changes" if out[1] else "")


def cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def record(**more: object) -> dict[str, str]:
    """What goes into the footer of every trace."""
    from threadpoolctl import threadpool_info

    versions = {}
    for package in ("numpy", "scipy", "pyarrow", "numba", "snakemake"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "absent"
    blas = sorted(
        {f"{i['internal_api']} {i['version']}, {i['num_threads']} thread(s)" for i in threadpool_info()}
    )
    facts = {
        "python": platform.python_version(),
        "packages": json.dumps(versions, sort_keys=True),
        "commit": commit(),
        "cpu": cpu(),
        "cores": str(os.cpu_count()),
        "blas": "; ".join(blas),
        "system": platform.platform(),
    }
    return facts | {k: v if isinstance(v, str) else json.dumps(v, sort_keys=True) for k, v in more.items()}
