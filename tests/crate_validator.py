"""`python crate_validator.py crate.zip`, by the interpreter that has roc-validator: what the profiles require and a crate lacks.

The validator fetches the context of RO-Crate 1.1; tests do not touch the network. Here the context says of the terms that the
crate uses what that one does: those of schema.org are schema.org's, and the others are below.
"""

import json
import sys
import zipfile
from types import SimpleNamespace

from rdflib.plugins.shared.jsonld import context
from rocrate_validator import services
from rocrate_validator.utils.http import HttpRequester

ADDRESS = "https://w3id.org/ro/crate/1.1/context"
OTHERS = {
    "File": "http://schema.org/MediaObject",
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
}
PROFILES = ("process-run-crate-0.5", "workflow-run-crate-0.5")  # each with those it builds on


def terms(path: str) -> dict[str, str]:
    """The context; a term that the crate declares itself is left to it."""
    document = json.loads(zipfile.ZipFile(path).read("ro-crate-metadata.json"))
    own = {term for part in document["@context"] if isinstance(part, dict) for term in part}
    used = {key for entity in document["@graph"] for key in entity if not key.startswith("@")} - own
    for entity in document["@graph"]:
        used |= {entity["@type"]} if isinstance(entity["@type"], str) else set(entity["@type"])
    return {term: OTHERS.get(term, f"http://schema.org/{term}") for term in used}


def validate(path: str) -> list[str]:
    known = {"@context": terms(path)}
    read = context.source_to_json
    answer = SimpleNamespace(
        status_code=200, headers={"Content-Type": "application/ld+json"}, json=lambda: known
    )
    context.source_to_json = lambda source, *more: (known, None) if source == ADDRESS else read(source, *more)
    HttpRequester.get = lambda self, address, **more: {ADDRESS: answer}[address]
    found = []
    for profile in PROFILES:
        settings = services.ValidationSettings(rocrate_uri=path, profile_identifier=profile)
        issues = services.validate(settings).get_issues()
        found += [f"{profile}: {issue.violatingEntity}: {issue.message}" for issue in issues]
    return found


if __name__ == "__main__":
    problems = validate(sys.argv[1])
    print(*problems, sep="\n")
    sys.exit(bool(problems))
