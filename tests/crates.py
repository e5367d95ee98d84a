"""What a crate of a run must be: the entities and properties that the profiles require, and files that are what is said of them."""

import hashlib
import json
import zipfile
from datetime import datetime
from pathlib import Path

METADATA = "ro-crate-metadata.json"


def many(value) -> list:
    return value if isinstance(value, list) else [value]


def named(value) -> list[str]:
    return [link["@id"] for link in many(value)]


def check(path: Path) -> dict[str, dict]:
    """Its entities by name, after all has been looked at."""
    archive = zipfile.ZipFile(path)
    document = json.loads(archive.read(METADATA))
    entities = {entity["@id"]: entity for entity in document["@graph"]}
    assert (
        len(entities) == len(document["@graph"])
        and "https://w3id.org/ro/crate/1.1/context" in document["@context"]
    )
    check_root(entities)
    check_actions(entities)
    files = {name: entity for name, entity in entities.items() if "File" in many(entity["@type"])}
    assert set(archive.namelist()) == {*files, METADATA} and set(files) == set(
        named(entities["./"]["hasPart"])
    )
    for name, entity in files.items():
        content = archive.read(name)
        assert hashlib.sha256(content).hexdigest() == entity["sha256"], name
        assert int(entity["contentSize"]) == len(content) and entity["encodingFormat"]
    links = [link for entity in entities.values() for value in entity.values() for link in many(value)]
    missing = {link["@id"] for link in links if isinstance(link, dict)} - set(entities)
    assert all(name.startswith("https://") for name in missing), missing  # RO-Crate itself, a language's page
    return entities


def check_root(entities: dict[str, dict]) -> None:
    """RO-Crate 1.1 and Workflow RO-Crate 1.0."""
    about, root = entities[METADATA], entities["./"]
    assert about["@type"] == "CreativeWork" and about["about"] == {"@id": "./"}
    assert {
        "https://w3id.org/ro/crate/1.1",
        "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
    } <= set(named(about["conformsTo"]))
    assert all(root[key] for key in ("name", "description", "datePublished", "license", "author"))
    datetime.fromisoformat(root["datePublished"])
    profiles = named(root["conformsTo"])
    for profile in ("ro/wfrun/process/0.5", "ro/wfrun/workflow/0.5", "workflowhub/workflow-ro-crate/1.0"):
        assert f"https://w3id.org/{profile}" in profiles
    assert all(entities[name]["@type"] == "CreativeWork" and entities[name]["version"] for name in profiles)
    workflow = entities[root["mainEntity"]["@id"]]
    assert {"File", "SoftwareSourceCode", "ComputationalWorkflow"} == set(workflow["@type"])
    assert workflow["@id"] == "workflow/Snakefile" and workflow["name"] and workflow["version"]
    language = entities[workflow["programmingLanguage"]["@id"]]
    assert language["@type"] == "ComputerLanguage" and language["name"] == "Snakemake" and language["version"]
    software = [entities[name] for name in named(workflow["softwareRequirements"])]
    versions = {
        one["name"]: one["softwareVersion"] for one in software if one["@type"] == "SoftwareApplication"
    }
    assert {"Python", "snakemake", "numpy"} <= set(versions) and all(versions.values())
    assert "envs/requirements.lock" in named(workflow["softwareRequirements"])


def check_actions(entities: dict[str, dict]) -> None:
    """Process Run Crate and Workflow Run Crate 0.5."""
    actions = [entity for entity in entities.values() if entity["@type"] == "CreateAction"]
    assert actions and {a["@id"] for a in actions} == set(named(entities["./"]["mentions"]))
    for action in actions:
        assert action["name"] and action["instrument"] == entities["./"]["mainEntity"]
        begin, end = (datetime.fromisoformat(action[key]) for key in ("startTime", "endTime"))
        assert begin.tzinfo and begin <= end
        assert all("File" in many(entities[name]["@type"]) for name in named(action["result"]))
        for name in named(action["object"]):
            assert name.startswith("config/") or len(entities[name]["sha256"]) == 64
