"""Where a result came from: versions, commit, hashes of the code and the configuration it depends on."""

import ast
import hashlib
import importlib.util
import json
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGE = "fedrepro"


@cache
def _imports(module: str) -> tuple[Path, frozenset[str]]:
    """The file of a module of ours and the modules of ours it imports, read without running it."""
    spec = importlib.util.find_spec(module)
    path = Path(spec.origin)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module} | {f"{node.module}.{a.name}" for a in node.names}
    ours = {n for n in found if n.split(".")[0] == PACKAGE and n != PACKAGE}
    return path, frozenset(n for n in ours if _exists(n))


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@cache
def code_hash(*modules: str) -> str:
    """A hash of these modules and of every module of ours they import, directly or not.

    Snakemake does not see the modules a script imports; a rule passes this as a param instead.
    """
    todo, seen = list(modules), {}
    while todo:
        name = todo.pop()
        if name not in seen:
            seen[name], more = _imports(name)
            todo += more
    digest = hashlib.sha256()
    for name in sorted(seen):
        digest.update(name.encode() + b"\0" + seen[name].read_bytes())
    return digest.hexdigest()[:16]


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
