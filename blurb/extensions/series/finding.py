"""Finds the checkpoints of runs: folders of the Trainer, folders by a pattern, revisions on the Hub.

Whatever is no checkpoint to score is told with its reason, and the rest goes on.
"""

from __future__ import annotations

import fnmatch
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb.checkpoints import hub
from blurb.checkpoints.checkpoint import CONFIG, Checkpoint
from blurb.checkpoints.references import default_name
from blurb.extensions.series import curves
from blurb.messages import BlurbError, DataError, ModelError, SettingsError, opt
from blurb.system.files import SEAL, damaged_files

INSIDE = "checkpoints"
"""Where `blurb pretrain` has them."""


@dataclass(frozen=True)
class FoundCheckpoints:
    """The checkpoints of some runs, run by run, by step; why others are left out, and what is odd about these."""

    steps: tuple[curves.Step, ...]
    left_out: tuple[str, ...] = ()


def find(
    places: Sequence[str | Path], pattern: str | None = None, with_tokenizer: bool = True
) -> FoundCheckpoints:
    """The checkpoints of runs.

    :param places: folders of runs; `org/model@PATTERN` for the revisions of a repository
    :param pattern: names of the checkpoints, such as `step-*`; None takes every folder that is a checkpoint
    :param with_tokenizer: whether each needs a tokenizer of its own
    :raises DataError: if there is none at all, or a folder is not there
    :raises ModelError: if the Hub does not answer
    """
    checkpoints = _joined(
        [_of(place, run, pattern, with_tokenizer) for place, run in _named(places)]
    )
    if not checkpoints.steps:
        why = f" {' '.join(checkpoints.left_out)}" if checkpoints.left_out else ""
        raise DataError(
            f"No checkpoint in {', '.join(map(str, places))}.{why}",
            fix=f"Name the folder that has checkpoint-N folders, or their pattern with {opt('pattern')}.",
        )
    return checkpoints


def find_present(
    places: Sequence[str | Path], pattern: str | None = None, with_tokenizer: bool = True
) -> FoundCheckpoints:
    """The checkpoints that are there by now, of runs that may not have begun or cannot be reached for a while."""

    def look(place: str | Path, run: str) -> FoundCheckpoints:
        try:
            return _of(place, run, pattern, with_tokenizer)
        except (DataError, ModelError, OSError) as error:
            return FoundCheckpoints((), (str(error),))

    return _joined([look(place, run) for place, run in _named(places)])


def _joined(runs: Sequence[FoundCheckpoints]) -> FoundCheckpoints:
    return FoundCheckpoints(
        tuple(step for run in runs for step in run.steps),
        tuple(note for run in runs for note in run.left_out),
    )


def _of(place: str | Path, run: str, pattern: str | None, with_tokenizer: bool) -> FoundCheckpoints:
    return (
        _on_hub(str(place), run)
        if _is_remote(place)
        else _in_folder(Path(place), run, pattern, with_tokenizer)
    )


def check_places(places: Sequence[str | Path]) -> None:
    """Raises a DataError for a folder that is not there: a run that has not begun has an empty one."""
    for place in places:
        if not _is_remote(place) and not Path(place).is_dir():
            raise DataError("there is no such folder.", Path(place))


def _is_remote(place: str | Path) -> bool:
    return isinstance(place, str) and "@" in place and not Path(place).exists()


def _named(places: Sequence[str | Path]) -> list[tuple[str | Path, str]]:
    """Each run with a name: that of its folder, with the folder above where two are alike."""
    paths = [
        os.path.abspath(place) if not _is_remote(place) else str(place).partition("@")[0]
        for place in places
    ]
    for place, count in Counter(paths).items():
        if count > 1:
            raise SettingsError(f"{place} is named twice", fix="name each run once.")
    names = [default_name(path) for path in paths]
    for depth in range(2, 6):
        alike = Counter(names)
        names = [
            name if alike[name] == 1 else "-".join(Path(path).parts[-depth:])
            for name, path in zip(names, paths, strict=True)
        ]
    return list(zip(places, names, strict=True))


def _in_folder(
    folder: Path, run: str, pattern: str | None, with_tokenizer: bool
) -> FoundCheckpoints:
    check_places([folder])
    if (folder / INSIDE).is_dir() and not (pattern and _matching(folder, pattern)):
        folder = folder / INSIDE
    left_out: list[str] = []
    whole: dict[int, list[Path]] = {}
    for path in _matching(folder, pattern or "*"):
        if not path.is_dir() or path.name.startswith("."):
            continue
        step = curves.number(path.name)
        if pattern is None and not (path / CONFIG).is_file() and step is None:
            continue  # a folder of something else
        if step is None:
            left_out.append(f"{path}: no step in its name, so it is left out.")
        elif why := incomplete(path, with_tokenizer):
            left_out.append(f"{path}: {why}, so it is left out.")
        else:
            whole.setdefault(step, []).append(path)
    for step, paths in whole.items():
        if len(paths) > 1:
            names = " and ".join(path.name for path in paths)
            left_out.append(
                f"{folder}: {names} are both of step {step}; both are left out, {opt('pattern')} chooses one."
            )
    folders = {step: paths[0] for step, paths in whole.items() if len(paths) == 1}
    logs = {
        step: curves.logged_losses(curves.json_of(path / curves.STATE))
        for step, path in folders.items()
    }
    left_out += _drop_other_attempts(folders, logs)
    for step, path in folders.items():
        if lost := [at for at, loss in logs[step].items() if not curves.is_number(loss)]:
            left_out.append(
                f"{path}: its training loss is no number from step {lost[0]} on; it is scored all the same."
            )
    return FoundCheckpoints(
        tuple(curves.read(run, step, folders[step]) for step in sorted(folders)), tuple(left_out)
    )


def _matching(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except (ValueError, NotImplementedError) as error:
        raise SettingsError(
            f"'{pattern}' is no pattern of names: {error}",
            fix=f"write {opt('pattern')} such as 'step-*', below the run's folder.",
        ) from error


def incomplete(folder: Path, with_tokenizer: bool) -> str:
    """Why a folder is no whole checkpoint: files that are missing or cut, or that differ from its seal; "" if it is."""
    try:
        if (folder / SEAL).is_file() and (bad := damaged_files(folder)):
            return f"{', '.join(bad)} is not as it was sealed"
        Checkpoint(folder).check_files(with_tokenizer)
    except (BlurbError, OSError) as error:
        return error.what.rstrip(".") if isinstance(error, BlurbError) else str(error)
    return ""


def _drop_other_attempts(
    folders: dict[int, Path], logs: Mapping[int, Mapping[int, Any]]
) -> list[str]:
    """Takes out checkpoints of an attempt that was given up, if the run began again from an earlier step.

    A Trainer that goes on takes the log of its checkpoint with it, so all checkpoints of one attempt agree on the
    losses of the steps that they have in common. Copying changes the times of files, and not these; the times decide
    only which of two attempts is the one that went on.
    """
    if not (known := [step for step in logs if logs[step]]):
        return []
    newest = max(known, key=lambda step: ((folders[step] / curves.STATE).stat().st_mtime, step))
    left_out = []
    for step in sorted(known):
        differing = [
            at
            for at, loss in logs[step].items()
            if at in logs[newest] and repr(loss) != repr(logs[newest][at])  # NaN is equal to NaN
        ]
        ahead = step > newest and any(at not in logs[step] for at in logs[newest])
        if differing or ahead:
            at = f"from step {min(differing)} on" if differing else f"beyond step {newest}"
            left_out.append(
                f"{folders[step]}: the run began again, and this is of another attempt than {folders[newest].name} "
                f"({at} their logs differ), so it is left out."
            )
            del folders[step]
    return left_out


def _on_hub(place: str, run: str) -> FoundCheckpoints:
    repository, _, pattern = place.partition("@")
    numbered = {
        name: curves.number(name)
        for name in hub.revisions(repository)
        if fnmatch.fnmatchcase(name, pattern)
    }
    alike = Counter(numbered.values())
    left_out, present = [], []
    for name, step in numbered.items():
        if step is None:
            left_out.append(f"{repository}@{name}: no step in its name, so it is left out.")
        elif alike[step] > 1:
            left_out.append(
                f"{repository}@{name}: another revision has step {step}, too; both are left out."
            )
        else:
            present.append(curves.Step(run, step, f"{repository}@{name}"))
    return FoundCheckpoints(tuple(sorted(present, key=lambda step: step.step)), tuple(left_out))


def check_required(found: FoundCheckpoints, required: Sequence[int]) -> None:
    """Raises a SettingsError if a run lacks a required step."""
    there = {(step.run, step.step) for step in found.steps}
    lost = [
        f"{run} lacks step {', '.join(absent)}"
        for run in dict.fromkeys(step.run for step in found.steps)
        if (absent := [str(step) for step in required if (run, step) not in there])
    ]
    if lost:
        raise SettingsError(
            f"Required checkpoints are missing: {'; '.join(lost)}",
            fix=f"wait for them, or change {opt('require')}.",
        )
