"""Learners: one declaration a kind, each in its file of `kinds/`. Nothing outside of this room knows a kind by name.

`kind.LearnerKind` says what is declared, `base.Learner` what the code of a kind can do: `fit` once, then `predict`. The
code of the built-in kinds is in `finetuning/`, `frozen/` (probes) and `baselines/`; a kind of your own is one file with
both, and an entry point in the group `blurb.learners`.
"""

from __future__ import annotations

from blurb.learners.kind import LearnerKind, RowKind
from blurb.learners.kinds.encoder import LEARNER as DEFAULT
from blurb.learners.kinds.external import LEARNER as EXTERNAL
from blurb.learners.kinds.prompted import LEARNER as PROMPTED
from blurb.messages import UnknownName
from blurb.registry import Registry

__all__ = [
    "DEFAULT",
    "EXTERNAL",
    "PREFIX",
    "PROMPTED",
    "LearnerKind",
    "RowKind",
    "in_trial",
    "is_named",
    "kinds",
    "of_trial",
    "row_kind",
]

kinds: Registry[LearnerKind] = Registry(
    "learner", "blurb.learners.kinds", "LEARNER", "blurb.learners", "blurb.learners:LearnerKind"
)
PREFIX = "baseline:"
"""Prefix of a model reference that names a kind, and of the weights of its trials."""


def is_named(model: object) -> bool:
    """Whether a model reference, or the weights of a trial, are the name of a kind."""
    return str(model).startswith(PREFIX)


def name_in(reference: str) -> str:
    """The name of a kind in a reference, which may have options.

    >>> name_in("baseline:bilstm,hidden=64")
    'bilstm'
    """
    return reference.removeprefix(PREFIX).partition(",")[0]


def named_kinds() -> dict[str, LearnerKind]:
    """The kinds that stand in the place of a model, by name."""
    return {
        name: kind
        for name, kind in kinds.usable().items()
        if kind.runs and not kind.reads_checkpoint
    }


def checkpoint_kinds() -> dict[str, LearnerKind]:
    """The kinds that a protocol can ask for, by name."""
    return {name: kind for name, kind in kinds.usable().items() if kind.reads_checkpoint}


def get_named(reference: str) -> LearnerKind:
    """The kind that stands in the place of a model; UnknownName if there is none of that name."""
    name = kinds.registered(name_in(reference))
    found = kinds.known(name)
    if found is None or found.reads_checkpoint or not found.runs:
        raise UnknownName(PREFIX.rstrip(":"), name, named_kinds())
    return found


def of_trial(weights: str, learner: str = "") -> LearnerKind:
    """The kind that runs a trial.

    :param weights: of the trial: a hash, or the name of the kind with its options
    :param learner: `Trial.learner`
    :raises UnknownName: if it is not installed
    """
    return get_named(weights) if is_named(weights) else kinds.get(learner or DEFAULT.name)


def in_trial(kind: LearnerKind) -> str:
    """`Trial.learner` of a kind: empty where the weights name it, and by default, so that trials keep their hash."""
    return kind.name if kind != DEFAULT and (kind.reads_checkpoint or not kind.runs) else ""


def row_name(weights: str, learner: str = "") -> str:
    """The word for a trial's learner in the tables, also where its kind is not installed."""
    try:
        return of_trial(weights, learner).rows.name
    except UnknownName:
        return PREFIX.rstrip(":") if is_named(weights) else learner


def row_kind(name: str) -> RowKind:
    """Properties of rows by the word in their column `learner`; rows of unknown kinds compare only among themselves."""
    for kind in (DEFAULT, *kinds.usable().values()):
        if kind.rows.name == name:
            return kind.rows
    return RowKind(name, f"the learner '{name}'", name, place=9, measures=name, mark=name)
