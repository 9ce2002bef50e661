"""What a protocol says to its learner: whether it may, and how many seeds are run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from blurb.learners import DEFAULT, LearnerKind, kinds, named, of_checkpoints
from blurb.messages.errors import SettingsError, UnknownName
from blurb.protocols import protocol as protocol_files
from blurb.protocols.protocol import Protocol


def kind_of(protocol: Protocol) -> LearnerKind:
    """The kind of learner that reads the checkpoints."""
    return kinds.get(protocol.learner or DEFAULT.name)


def load(name: str) -> Protocol:
    """Loads a protocol by name or from a file, and checks what it says to its learner."""
    return check(protocol_files.load(name), name)


def check(protocol: Protocol, where: Path | str) -> Protocol:
    """The protocol, with the seeds of its learner.

    :param where: its file, for messages
    :raises BlurbError: if there is no such learner, or settings are of no effect on it
    """
    trained = [name for name, kind in named().items() if kind.own_training]
    for name, _ in protocol.per_baseline:
        if name not in trained:
            raise UnknownName(f"baseline (in {where})", name, trained)
    if protocol.learner and protocol.learner not in of_checkpoints():
        raise UnknownName(f"learner (in {where})", protocol.learner, of_checkpoints())
    kind = kind_of(protocol)
    if kind.deterministic and any(seeds != (1,) for seeds in protocol.seed_values.values()):
        raise SettingsError(f"{kind.rows.noun} is deterministic", where=where, fix="remove seeds.")
    if not kind.searches:
        for key, value in (("search", protocol.search), ("lr_by_size", protocol.lr_by_size)):
            if value:
                raise SettingsError(
                    f"[{key}] does not apply to {kind.rows.noun}, which always selects on dev",
                    where=where,
                    fix="remove it.",
                )
    for table in (protocol.everywhere, *protocol.per_task.values()):
        check_settings(kind, table, where)
    return replace(protocol, seed_values={"": (1,)}) if kind.deterministic else protocol


def check_settings(kind: LearnerKind, names: Iterable[str], where: Path | str) -> None:
    """Raises a SettingsError for a setting without effect on a kind that refuses such settings."""
    for name in names:
        if kind.refuses and name not in kind.settings:
            raise SettingsError(
                f"{name} does not apply to {kind.rows.noun}; its settings are {', '.join(kind.settings)}.", where=where
            )
