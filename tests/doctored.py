"""Results whose traces were tampered with, to see a verdict turn."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fedrepro.experiments import registry
from fedrepro.experiments.results import Results, last_rows
from fedrepro.pipeline.config import load
from fedrepro.reporting.verdicts import Verdict, decide


def as_it_is(experiment, found):
    return found


def standins(experiment, rows):
    """Every row measured on a stand-in."""
    return rows.assign(data_origin="standin")


@dataclass(frozen=True)  # equal where the changes are, too: readings are kept by results
class Doctored(Results):
    """A finished run as a claim sees it, with every frame of traces (and every reference) passed through a change."""

    change: Callable = as_it_is  # (experiment, frame) -> frame
    facts: Callable = as_it_is  # (experiment, references) -> references

    def declared(self, experiments):
        return Doctored(self.folder, tuple(experiments), self.change, self.facts)

    def traces(self, *experiments):
        self.check(*experiments)
        whole = Results(self.folder, self.only)
        return pd.concat([self.change(e, whole.traces(e).copy()) for e in experiments], ignore_index=True)

    def ends(self, *experiments):
        return last_rows(self.traces(*experiments))

    def reference(self, experiment):
        return self.facts(experiment, Results(self.folder, self.only).reference(experiment))


def judged(folder: Path, paper: str, claim: str, change=as_it_is, facts=as_it_is, scale="paper") -> Verdict:
    """The verdict on one claim of a finished smoke run, its traces changed. At scale `paper` unless told, so that claims
    on absolute numbers are judged too."""
    entry = load({"scale": "smoke", "papers": [paper]}).papers[paper].raw["claims"][claim]
    results = Doctored(folder, None, change, facts)
    read = results.declared([f"{paper}_{e}" for e in entry["experiments"]])
    return decide(entry, list(registry.claim.get(paper, claim)(read)), scale)
