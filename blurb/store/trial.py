"""A trial: one model trained on one task with one seed, identified by everything that decides its result."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, get_origin, get_type_hints

from blurb import learners, tasks
from blurb.fields import types_of
from blurb.messages import StoreError
from blurb.system.files import check_types, read_json, text_hash

LATER = ("plugins", "learner", "predictions")
"""Fields added after the first stores. They are left out of the hash while empty, so that old trials stay done."""


def short_weights(weights: str) -> str:
    """The weights of a model as tables have them: twelve characters, and for options of a baseline six digits more.

    >>> short_weights("74c3f9df99ef8a01"), short_weights("baseline:bilstm,hidden=64")
    ('74c3f9df99ef', 'baseline:bil#a1cd7f')
    """
    name, _, options = weights.partition(",")
    if "#" in name:  # as read from a table
        return name
    return name[:12] + (f"#{text_hash(options)[:6]}" if options else "")


@dataclass(frozen=True)
class Trial:
    """The specification of a trial. Its hash is the identity; environment and metrics are not part of it.

    :param task: name of the task
    :param weights: hash of weights and configuration of the model
    :param tokenizer: hash of everything that decides the token ids
    :param data: hash of the canonical examples of all splits
    :param settings: the protocol's settings that apply to this task
    :param seed: seed of weights, batches, dropout and sampled subsets
    :param precision: resolved precision (fp32, bf16, fp16)
    :param recipe: recipe number of its learner
    :param plugins: setting -> hash of the code and options of plug-ins (`blurb.store.plugins`)
    :param learner: the kind of learner (`blurb.learners.in_trial`); "" for fine-tuning, and where `weights` name it
    :param predictions: hash of predictions that another tool made (`blurb.scoring`); "" for those of a learner
    """

    task: str
    weights: str
    tokenizer: str
    data: str
    settings: Mapping[str, Any]
    seed: int
    precision: str
    recipe: int = 1
    plugins: Mapping[str, str] = field(default_factory=dict)
    learner: str = ""
    predictions: str = ""

    @property
    def content(self) -> dict[str, Any]:
        """The content to store and to hash."""
        return {
            each.name: value
            for each in fields(self)
            if (value := getattr(self, each.name)) or each.name not in LATER
        }

    @cached_property
    def hash(self) -> str:
        """16 hexadecimal digits: the hash of the content."""
        return text_hash(json.dumps(self.content, sort_keys=True, separators=(",", ":")))[:16]

    @property
    def kind(self) -> learners.LearnerKind:
        """The kind of its learner; UnknownName if that is not installed."""
        return learners.of_trial(self.weights, self.learner)

    @property
    def family(self) -> str:
        """The hash without the seed and what depends on it; only trials of one family may be averaged."""
        return replace(self, seed=0, predictions="").hash


@dataclass(frozen=True)
class Configuration:
    """The configuration of a leaderboard row: protocol, overrides, precision and data suite.

    :param note: note of the protocol's file; not part of the row's identity
    """

    protocol: str
    protocol_hash: str
    overrides: Mapping[str, Any]
    precision: str
    suite: str
    note: str = field(default="", compare=False)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that identifies the configuration; not the note."""
        return {name: value for name, value in vars(self).items() if name != "note"}

    @property
    def text(self) -> str:
        """As the leaderboard prints it: the protocol, then the overrides in alphabetical order."""
        return " ".join(filter(None, (self.protocol, self.overrides_text)))

    @property
    def overrides_text(self) -> str:
        """`key=value` pairs in alphabetical order, separated by spaces."""
        return " ".join(f"{key}={self.overrides[key]}" for key in sorted(self.overrides))

    @property
    def from_file(self) -> bool:
        """Whether the protocol is a user's file (`stem@` and 8 digits of its hash), not a shipped one (`quick@2`)."""
        return re.search(r"@[0-9a-f]{8}$", self.protocol) is not None


PROVENANCE = "provenance.json"


@dataclass(frozen=True)
class Provenance:
    """The content of `provenance.json`; unknown fields are empty.

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
        """The fields as they are stored."""
        return {
            name: value for name, value in asdict(self).items() if name != "declaration" or value
        }

    @property
    def train_seconds(self) -> float | None:
        """Seconds of the whole fit, selection on dev included."""
        return self._number("train_seconds")

    @property
    def predict_seconds(self) -> float | None:
        """Seconds of the predictions of dev and test at the end."""
        return self._number("predict_seconds")

    @property
    def train_units(self) -> int | None:
        """Training units that were used."""
        count = self._number("train_units")
        return None if count is None else int(count)

    def truncated(self, split: tasks.Split) -> int | None:
        """Number of inputs of a split that lost text; None if unknown, as for a baseline."""
        inputs = self.facts.get(f"{split}_inputs", {})
        count = inputs.get("truncated") if isinstance(inputs, dict) else None
        return count if type(count) is int else None

    def task(self, name: str) -> tasks.Task:
        """The task of the trial; of a task file, as it was declared when the trial ran."""
        if not self.declaration:
            return tasks.get(name)
        if self.declaration.get("name") != name:
            raise StoreError(
                f"The task {name} of a trial: its declaration is that of another task; it was altered."
            )
        return tasks.of_declaration(self.declaration, f"The task {name} of a trial")

    def _number(self, fact: str) -> float | None:
        value = self.facts.get(fact)
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


T = TypeVar("T")
IN_JSON: Mapping[Any, tuple[type, ...]] = {
    **{kind: (kind,) for kind in (NoneType, bool, int, str)},
    Any: (NoneType, bool, int, float, str, list, dict),
    float: (int, float),
    Path: (str,),
    Literal: (str,),
    Sequence: (list,),
    tuple: (list,),
}
"""Type of a value -> its types in JSON; all others are objects there."""


@cache
def stored_types(kind: type) -> Mapping[str, tuple[type, ...]]:
    """The types that the fields of a data class or of a typed record may have in JSON, by name."""
    return {
        name: tuple(
            each for one in types_of(hint) for each in IN_JSON.get(get_origin(one) or one, (dict,))
        )
        for name, hint in get_type_hints(kind).items()
    }


def from_json(kind: type[T], content: Any, file: Path) -> T:
    """Makes a data class of JSON that somebody else, or another version of blurb, may have written.

    :raises StoreError: with the key, if one is missing, unknown, or of another type
    """
    types = stored_types(kind)  # type: ignore[arg-type] # a class has a hash
    if not isinstance(content, dict):
        raise StoreError(
            f"expected a table of {', '.join(types)} (got {type(content).__name__}).", where=file
        )
    needed = (each.name for each in fields(kind) if each.default is each.default_factory is MISSING)  # type: ignore[arg-type]
    if odd := [
        *(name for name in needed if name not in content),
        *(name for name in content if name not in types),
    ]:
        what = "is unknown to this version of blurb" if odd[0] in content else "is missing"
        raise StoreError(f"'{odd[0]}' {what}.", where=file)
    check_types(content, types, file)
    return kind(**content)


OF_PROVENANCE = {
    name: types[:1] for name, types in stored_types(Provenance).items() if name != "started"
}


def read_provenance(path: Path) -> Provenance:
    """The provenance in the folder of a trial; StoreError if it is invalid."""
    file = path / PROVENANCE
    content = read_json(file)
    known = {
        name: content[name]
        for name in Provenance.__dataclass_fields__
        if content.get(name) is not None
    }
    check_types(known, OF_PROVENANCE, file)
    if "started" in known:
        known["started"] = str(known["started"])  # only shown
    if "configuration" in known:
        known["configuration"] = from_json(Configuration, known["configuration"], file)
    return Provenance(**known)
