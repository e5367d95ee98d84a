"""Configuration files: read so that nothing a person wrote is lost or misunderstood, and held against their schema.

A mistake is a ConfigError: one sentence that names the file, the key and what would be right.
"""

import math
from functools import cache
from pathlib import Path

import jsonschema
import yaml

from fedrepro.maths.domains import nearest, shown

SCHEMAS = Path(__file__).resolve().parents[3] / "workflow/schemas"
MOST_NODES = 200_000  # with every anchor written out; our longest file has 7,000
DEEPEST = 40  # levels; our deepest file has eight
TYPES = {
    "object": "a mapping of keys",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


class ConfigError(Exception):
    """Something a person wrote in the configuration cannot be run as it stands."""


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Safe YAML in which a key may appear once: YAML itself would keep the last and drop the others."""

    def flatten_mapping(self, node):
        if getattr(node, "flat", False):
            return
        node.flat = True  # before the merge: an anchor that holds itself ends here
        self.refuse_twins(node)
        super().flatten_mapping(node)
        last = {(key.tag, str(key.value)): (key, value) for key, value in node.value}
        node.value = list(last.values())  # a merged key that is written again counts once

    def refuse_twins(self, node):
        seen = set()
        for key, _ in node.value:
            if (key.tag, str(key.value)) in seen:
                merge = "; write `<<: [*one, *other]`" if key.value == "<<" else "; keep one of them"
                raise yaml.MarkedYAMLError(
                    problem=f"the key '{key.value}' appears twice{merge}", problem_mark=key.start_mark
                )
            seen.add((key.tag, str(key.value)))


def read_text(path: Path) -> str:
    """What a person wrote in a file."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; restore it or correct the name that points to it") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8; save the file in that encoding") from None


def read_yaml(path: Path) -> dict:
    """The mapping in a file, made of text, finite numbers, true, false, null, lists and mappings alone."""
    text = read_text(path)
    try:
        refuse_depth(text)
        document = yaml.load(text, Loader=Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise ConfigError(f"{path}{line}: not valid YAML ({problem})") from None
    except (RecursionError, ValueError, TypeError) as error:  # an unhashable key, a date of month 13, …
        raise ConfigError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from None
    if document is None:
        raise ConfigError(f"{path}: the file is empty; it needs a mapping of keys")
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: expected a mapping of keys at the top level")
    if size(path, document, {}, ()) > MOST_NODES:
        raise ConfigError(
            f"{path}: more than {MOST_NODES:,} entries once its anchors are written out; use fewer anchors"
        )
    check_plain(path, document)
    return document


def citation() -> dict:
    """CITATION.cff, as far as this project uses it."""
    path = Path("CITATION.cff")
    return validate(read_yaml(path), "citation", path)


def refuse_depth(text: str) -> None:
    """Before anything recursive looks at it."""
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml.MarkedYAMLError(
                problem=f"nested more than {DEEPEST} levels deep", problem_mark=event.start_mark
            )


def size(path, node, known: dict[int, int], above: tuple) -> int:
    """Nodes of a document with its anchors written out; each is counted once, however often it is repeated."""
    if not isinstance(node, dict | list):
        return 1
    if id(node) in above:
        raise ConfigError(f"{path}: an anchor that contains itself; write that part out")
    if id(node) not in known:
        children = node.values() if isinstance(node, dict) else node
        known[id(node)] = 1 + sum(size(path, child, known, (*above, id(node))) for child in children)
    return known[id(node)]


def check_plain(path, node, where: str = "") -> None:
    """Only what JSON knows, and finite: dates, sets and the like have no place in a configuration."""
    if isinstance(node, dict):
        for key, value in node.items():
            if not isinstance(key, str | int) or isinstance(key, bool):
                raise ConfigError(
                    f"{path}: {where or 'top level'}: the key {shown(key)} must be text; put it in quotes"
                )
            check_plain(path, value, f"{where}.{key}" if where else str(key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            check_plain(path, value, f"{where}[{i}]")
    elif isinstance(node, float) and not math.isfinite(node):
        raise ConfigError(f"{path}: {where}: {node} is not a finite number")
    elif not isinstance(node, str | int | float | None):
        raise ConfigError(
            f"{path}: {where}: {shown(str(node))} is read as a {type(node).__name__}; put it in quotes"
        )


@cache
def validator(schema: str) -> jsonschema.Draft202012Validator:
    """workflow/schemas/<schema>.schema.yaml; to JSON Schema 3.0 is an integer, to a number of rounds it is not."""
    base = jsonschema.Draft202012Validator
    whole = base.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    rules = yaml.load((SCHEMAS / f"{schema}.schema.yaml").read_text(), Loader=Loader)
    return jsonschema.validators.extend(base, type_checker=whole)(rules)


def validate(document: dict, schema: str, path) -> dict:
    """Check `document` (read from `path`) against a schema."""
    errors = validator(schema).iter_errors(document)
    error = min(errors, key=lambda e: (len(e.absolute_path), str(e.path)), default=None)
    if error is None:
        return document
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path).lstrip(".")
    raise ConfigError(f"{path}: {sentence(error, where or 'top level')}")


def sentence(error: jsonschema.ValidationError, where: str) -> str:
    """What is wrong, in the words of this project; the schema's own where we have none."""
    value, wanted = error.instance, error.validator_value
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = next(key for key in value if key not in known)
        return f"unknown key '{unknown}' at {where}; {nearest(unknown, known)}"
    if error.validator == "required":
        lacking = [key for key in wanted if key not in value]
        return f"{where}: the key '{lacking[0]}' is missing"
    if error.validator == "oneOf":
        keys = [option["required"][0] for option in wanted]
        return f"{where}: needs one of the keys {', '.join(keys)}, and only one"
    if error.validator == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        return f"{where}: {shown(value)} is not {' or '.join(TYPES[kind] for kind in kinds)}"
    if error.validator == "enum":
        return f"{where}: {shown(value)} is not one of {', '.join(wanted)}; {nearest(value, wanted)}"
    if error.validator == "pattern":
        form = error.schema.get("description", f"it must match {wanted}")
        return f"{where}: {shown(value)} is not a valid name; {form}"
    if error.validator in ("minItems", "minProperties"):
        return f"{where}: is empty"
    if error.validator == "uniqueItems":
        twin = next(item for i, item in enumerate(value) if item in value[:i])
        return f"{where}: lists {shown(twin)} twice"
    return f"{where}: {error.message if len(error.message) < 200 else 'not valid'}"
