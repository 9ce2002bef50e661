"""How a trial came about: stored beside it, and no part of what it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from blurb import tasks
from blurb.messages.errors import StoreError
from blurb.store.trial import Configuration
from blurb.system.files import check_types, read_json
from blurb.tasks import Split, Task

FILE = "provenance.json"
TYPES: Mapping[str, type] = {
    "data_verdict": str,
    "model": str,
    "revision": str,
    "parameters": int,
    "configuration": dict,
    "facts": dict,
    "environment": dict,
    "declaration": dict,
}
ASKED: Mapping[str, type] = {
    "protocol": str,
    "protocol_hash": str,
    "overrides": dict,
    "precision": str,
    "suite": str,
    "note": str,
}
"""Types of the fields, and of those of the configuration."""


class PredictedCost(NamedTuple):
    """What an estimate said of a trial before it ran (`blurb.cost`)."""

    learner: str
    type: str
    seconds: float


@dataclass(frozen=True)
class Provenance:
    """The content of `provenance.json`; what nobody said is empty.

    :param data_verdict: on the data: "identical" to the release, or what else (`blurb.data.loading`)
    :param parameters: of the encoder
    :param started: in UTC, as `2026-01-31T12:00:00Z`
    :param facts: what worker and learner say of times, inputs and choices
    :param environment: versions, device, threads, commit (`blurb.execution.environment`)
    :param declaration: of the task, if that came from a file: the file may be gone when the trial is scored again
    """

    data_verdict: str = ""
    model: str = ""
    revision: str | None = None
    parameters: int = 0
    configuration: Configuration | None = None
    started: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    declaration: Mapping[str, Any] | None = None

    @property
    def content(self) -> dict[str, Any]:
        """What is stored."""
        return {name: value for name, value in asdict(self).items() if name != "declaration" or value}

    @property
    def train_seconds(self) -> float | None:
        """Of the whole fit, choosing on dev included."""
        return self._number("train_seconds")

    @property
    def predict_seconds(self) -> float | None:
        """Of dev and test at the end."""
        return self._number("predict_seconds")

    @property
    def train_units(self) -> int | None:
        """Training units that were used."""
        count = self._number("train_units")
        return None if count is None else int(count)

    def truncated(self, split: Split) -> int | None:
        """Inputs of a split that lost text; None for what reads none, a baseline."""
        inputs = self.facts.get(f"{split}_inputs", {})
        count = inputs.get("truncated") if isinstance(inputs, dict) else None
        return count if type(count) is int else None

    @property
    def predicted(self) -> PredictedCost | None:
        """What was predicted of the trial, if anybody asked."""
        told = self.facts.get("predicted")
        if not isinstance(told, dict) or not isinstance(told.get("seconds"), int | float):
            return None
        return PredictedCost(str(told.get("learner")), str(told.get("type")), float(told["seconds"]))

    def task(self, name: str) -> Task:
        """The task of the trial; of a task file, as it was declared when the trial ran."""
        if not self.declaration:
            return tasks.get(name)
        if self.declaration.get("name") != name:
            raise StoreError(f"The task {name} of a trial: its declaration is that of another task; it was altered.")
        return tasks.of_declaration(self.declaration, f"The task {name} of a trial")

    def _number(self, fact: str) -> float | None:
        value = self.facts.get(fact)
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def read(path: Path) -> Provenance:
    """The provenance in the folder of a trial; StoreError if it is none."""
    file = path / FILE
    content = read_json(file)
    try:
        known = {name: content[name] for name in Provenance.__dataclass_fields__ if content.get(name) is not None}
        check_types(known, TYPES, file)
        if "started" in known:
            known["started"] = str(known["started"])  # an ornament
        if "configuration" in known:
            check_types(known["configuration"], ASKED, file)
            known["configuration"] = Configuration(**known["configuration"])
        return Provenance(**known)
    except (TypeError, AttributeError) as error:
        raise StoreError(f"{file} is no provenance of a trial ({error}).") from error
