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

from blurb.checkpoint_series import steps
from blurb.checkpoint_series.steps import Step
from blurb.checkpoints.checkpoint import CONFIG, Checkpoint
from blurb.checkpoints.references import default_name
from blurb.messages.errors import BlurbError, DataError, SettingsError
from blurb.system.files import SEAL, damage

INSIDE = "checkpoints"
"""Where `blurb pretrain` has them."""


@dataclass(frozen=True)
class Found:
    """The checkpoints of some runs, run by run, by step; and why others are left out."""

    steps: tuple[Step, ...]
    left_out: tuple[str, ...] = ()

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(dict.fromkeys(step.run for step in self.steps))


def find(places: Sequence[str | Path], pattern: str | None = None) -> Found:
    """The checkpoints of runs.

    :param places: folders of runs; `org/model@PATTERN` for the revisions of a repository
    :param pattern: names of the checkpoints, such as `step-*`; None takes every folder that is a checkpoint
    :raises DataError: if there is none at all, or a folder is not there
    """
    steps_found: list[Step] = []
    left_out: list[str] = []
    for place, run in zip(places, _names(places), strict=True):
        one = _of_hub(str(place), run) if _is_remote(place) else _of_folder(Path(place), run, pattern)
        steps_found += one.steps
        left_out += one.left_out
    if not steps_found:
        why = f" {' '.join(left_out)}" if left_out else ""
        raise DataError(
            f"No checkpoint in {', '.join(map(str, places))}.{why}",
            fix="Name the folder that has checkpoint-N folders, or their pattern with --pattern.",
        )
    return Found(tuple(steps_found), tuple(left_out))


def there(places: Sequence[str | Path], pattern: str | None = None) -> Found:
    """The checkpoints that are there by now, of runs that may not have begun."""
    try:
        return find(places, pattern)
    except DataError:
        return Found(())


def check_places(places: Sequence[str | Path]) -> None:
    """Raises a DataError for a folder that is not there: a run that has not begun has an empty one."""
    for place in places:
        if not _is_remote(place) and not Path(place).is_dir():
            raise DataError("there is no such folder.", Path(place))


def _is_remote(place: str | Path) -> bool:
    return isinstance(place, str) and "@" in place and not Path(place).exists()


def _names(places: Sequence[str | Path]) -> list[str]:
    """A name for each run: that of its folder, with the folder above where two are alike."""
    paths = [os.path.abspath(place) if not _is_remote(place) else str(place).partition("@")[0] for place in places]
    for place, count in Counter(paths).items():
        if count > 1:
            raise SettingsError(f"{place} is named twice", fix="name each run once.")
    last = [default_name(path) for path in paths]
    alike = Counter(last)
    for depth in range(2, 6):
        if all(count == 1 for count in alike.values()):
            break
        parts = [Path(path).parts for path in paths]
        last = [name if alike[name] == 1 else "-".join(own[-depth:]) for name, own in zip(last, parts, strict=True)]
        alike = Counter(last)
    return last


def _of_folder(folder: Path, run: str, pattern: str | None) -> Found:
    if not folder.is_dir():
        raise DataError("there is no such folder.", folder)
    if (folder / INSIDE).is_dir() and not (pattern and any(folder.glob(pattern))):
        folder = folder / INSIDE
    there = sorted(path for path in folder.glob(pattern or "*") if path.is_dir() and not path.name.startswith("."))
    left_out: list[str] = []
    whole: dict[int, list[Path]] = {}
    for path in there:
        step = steps.number(path.name)
        if pattern is None and not (path / CONFIG).is_file() and step is None:
            continue  # a folder of something else
        if step is None:
            left_out.append(f"{path}: no step in its name, so it is left out.")
        elif why := incomplete(path):
            left_out.append(f"{path}: {why}, so it is left out.")
        else:
            whole.setdefault(step, []).append(path)
    for step, paths in list(whole.items()):
        if len(paths) > 1:
            names = " and ".join(path.name for path in paths)
            left_out.append(f"{folder}: {names} are both of step {step}; both are left out, --pattern chooses one.")
            del whole[step]
    left_out += _of_another_attempt(whole)
    return Found(tuple(steps.read(run, step, whole[step][0]) for step in sorted(whole)), tuple(left_out))


def incomplete(folder: Path) -> str:
    """Why a folder is no whole checkpoint: files that are missing or cut, or that differ from its seal; "" if it is."""
    try:
        if (folder / SEAL).is_file() and (bad := damage(folder)):
            return f"{', '.join(bad)} is not as it was sealed"
        Checkpoint(folder).check_files(with_tokenizer=False)
    except (BlurbError, OSError) as error:
        return error.what.rstrip(".") if isinstance(error, BlurbError) else str(error)
    return ""


def _of_another_attempt(whole: dict[int, list[Path]]) -> list[str]:
    """Takes out checkpoints of an attempt that was given up, if the run began again from an earlier step.

    A Trainer that goes on takes the log of its checkpoint with it, so all checkpoints of one attempt agree on the
    losses of the steps that they have in common. Copying changes the times of files, and not these; the times decide
    only which of two attempts is the one that went on.
    """
    states = {step: steps.state_of(paths[0]) for step, paths in whole.items()}
    logs = {step: _losses(state) for step, state in states.items()}
    known = [step for step in logs if logs[step]]
    if not known:
        return []
    newest = max(known, key=lambda step: ((whole[step][0] / steps.STATE).stat().st_mtime, step))
    left_out = []
    for step in sorted(known):
        differing = [at for at in logs[step] if at in logs[newest] and logs[step][at] != logs[newest][at]]
        ahead = step > newest and any(at not in logs[step] for at in logs[newest])
        if differing or ahead:
            at = f"from step {min(differing)} on" if differing else f"beyond step {newest}"
            left_out.append(
                f"{whole[step][0]}: the run began again, and this is of another attempt than {whole[newest][0].name} "
                f"({at} their logs differ), so it is left out."
            )
            del whole[step]
    return left_out


def _losses(state: Mapping[str, Any]) -> dict[int, str]:
    return {
        entry["step"]: repr(entry["loss"])
        for entry in steps.history(state)
        if isinstance(entry.get("step"), int) and "loss" in entry
    }


def _of_hub(place: str, run: str) -> Found:
    from blurb.checkpoints import hub

    repository, _, pattern = place.partition("@")
    names = [name for name in hub.revisions(repository) if fnmatch.fnmatchcase(name, pattern)]
    numbered = {name: steps.number(name) for name in names}
    left_out = [
        f"{repository}@{name}: no step in its name, so it is left out." for name in names if numbered[name] is None
    ]
    alike = Counter(numbered.values())
    there = []
    for name, step in numbered.items():
        if step is not None and alike[step] > 1:
            left_out.append(f"{repository}@{name}: another revision has step {step}, too; both are left out.")
        elif step is not None:
            there.append(Step(run, step, f"{repository}@{name}"))
    return Found(tuple(sorted(there, key=lambda step: step.step)), tuple(left_out))


def missing(found: Found, required: Sequence[int]) -> dict[str, list[int]]:
    """Run -> required steps that it does not have."""
    there = {run: {step.step for step in found.steps if step.run == run} for run in found.runs}
    lost = {run: [step for step in required if step not in own] for run, own in there.items()}
    return {run: steps_ for run, steps_ in lost.items() if steps_}
