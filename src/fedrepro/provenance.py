"""Which library code a result depends on."""

import ast
import hashlib
import importlib.util
from pathlib import Path


def code_hash(*module_names: str) -> str:
    """sha256 of the modules named and of every fedrepro module they import, found without running them."""
    sources, todo = {}, list(module_names)
    while todo:
        name = todo.pop()
        if name in sources or not name.startswith("fedrepro"):
            continue
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.origin:
            continue
        sources[name] = Path(spec.origin).read_bytes()
        for node in ast.walk(ast.parse(sources[name])):
            if isinstance(node, ast.Import):
                todo += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("fedrepro"):
                todo.append(node.module)
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    try:
                        found = importlib.util.find_spec(full)
                    except ModuleNotFoundError:
                        found = None
                    if found:
                        todo.append(full)
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(name.encode() + b"\0" + sources[name] + b"\0")
    return digest.hexdigest()[:16]
