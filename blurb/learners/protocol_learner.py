"""A protocol and its learner: which settings apply, and how many seeds are run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from blurb.learners import DEFAULT, LearnerKind, checkpoint_kinds, kinds, named_kinds
from blurb.messages import ErrorCollector, SettingsError, UnknownName
from blurb.protocols import protocol as protocol_files
from blurb.protocols.protocol import Protocol


def kind_of(protocol: Protocol) -> LearnerKind:
    """The kind of learner that reads the checkpoints."""
    return kinds.get(protocol.learner or DEFAULT.name)


def load(name: Path | str) -> Protocol:
    """Loads a protocol by name or from a file, and checks it against its learner; raises all faults."""
    errors = ErrorCollector()
    protocol = check(protocol_files.read(str(name), errors), name, errors)
    errors.stop()
    return protocol


def check(protocol: Protocol, where: Path | str, errors: ErrorCollector) -> Protocol:
    """The protocol, with the seeds of its learner; an unknown learner and settings without effect go to `errors`.

    :param where: its file, for messages
    """
    trained = [name for name, kind in named_kinds().items() if kind.own_training]
    for name in dict.fromkeys(name for name, _ in protocol.per_baseline):
        if name not in trained:
            errors.add(UnknownName("baseline", name, trained, where=where))
    if protocol.learner and protocol.learner not in checkpoint_kinds():
        errors.add(UnknownName("learner", protocol.learner, checkpoint_kinds(), where=where))
        return protocol
    kind = kind_of(protocol)
    if kind.deterministic and any(seeds != (1,) for seeds in protocol.seed_values.values()):
        errors.add(
            SettingsError(f"{kind.rows.noun} is deterministic", where=where, fix="remove seeds.")
        )
    for key, value in (("search", protocol.search), ("lr_by_size", protocol.lr_by_size)):
        if value and not kind.searches:
            errors.add(
                SettingsError(
                    f"[{key}] does not apply to {kind.rows.noun}, which always selects on dev",
                    where=where,
                    fix="remove it.",
                )
            )
    for table in (protocol.everywhere, *protocol.per_task.values()):
        with errors:
            check_settings(kind, table, where)
    return replace(protocol, seed_values={"": (1,)}) if kind.deterministic else protocol


def check_settings(kind: LearnerKind, names: Iterable[str], where: Path | str) -> None:
    """Raises a SettingsError for each setting without effect on a kind that refuses such settings."""
    errors = ErrorCollector()
    for name in names:
        if kind.refuses and name not in kind.settings:
            errors.add(
                SettingsError(
                    f"{name} does not apply to {kind.rows.noun}; its settings are {', '.join(kind.settings)}.",
                    where=where,
                )
            )
    errors.stop()
