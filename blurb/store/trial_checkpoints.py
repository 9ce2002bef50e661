"""Checkpoints of unfinished trials (`--resume-trials`), beside the trial's folder: `.HASH.checkpoint/STEPS/`.

They are no part of a trial: a checkpoint that cannot be written or used costs time, never the trial. All are removed
when the trial is finished. A checkpoint is written into the temporary folder of the trial, sealed, and renamed into
place; then the one before is removed.
"""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.messages import BlurbError, safe_message
from blurb.system.files import damaged_files, read_json, seal_folder, write_json
from blurb.system.leases import Lease

if TYPE_CHECKING:
    from torch import Tensor

log = logging.getLogger(__name__)
SCHEMA = 1
VALUES = "values.json"


@dataclass(frozen=True)
class TrialCheckpoints:
    """The checkpoints of one trial, for its training loop (`blurb.training.resuming.Checkpoints`).

    :param path: folder of the trial
    :param aside: temporary folder of the trial
    :param about: what a checkpoint must have in common with this process: the trial, and what decides the bits
    :param lease: of the trial, None if nobody else can know of it
    """

    path: Path
    aside: Path
    about: Mapping[str, Any]
    lease: Lease | None = None

    def read(self) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]] | None:
        """Tensors by file and name, and values, of the newest checkpoint; an unusable one is set aside."""
        import safetensors.torch

        folders = sorted(folder_of(self.path).glob("*"))
        if not folders:
            return None
        lost = damaged_files(folders[-1])
        reason = f"{', '.join(lost)} missing or damaged" if lost else ""
        try:
            if not reason:
                values = read_json(folders[-1] / VALUES)
                reason = self._foreign(values.get("about"))
            if not reason:
                # Copies, as tensors are mapped from the files, which are removed with the next checkpoint.
                return {
                    file.stem: {
                        name: value.clone()
                        for name, value in safetensors.torch.load_file(file).items()
                    }
                    for file in folders[-1].glob("*.safetensors")
                    if file.is_file()  # reading a pipe would wait for ever
                }, values  # type: ignore[possibly-undefined]
        except (BlurbError, OSError, safetensors.SafetensorError) as error:
            reason = safe_message(error)
        self.set_aside(reason)
        return None

    def write(self, tensors: Mapping[str, Mapping[str, Tensor]], values: Mapping[str, Any]) -> None:
        """Writes a checkpoint; if that fails (a full disk), the one before stays, and the training goes on."""
        import safetensors.torch

        if self.lease is not None and not self.lease.is_held():
            return  # another process has taken the trial over, with its checkpoints
        new = self.aside / "checkpoint"
        shutil.rmtree(new, ignore_errors=True)  # of a write that was interrupted
        steps = values["begun"] + len(tensors["loop"].get("losses", ()))
        target = folder_of(self.path) / f"{steps:09d}"
        try:
            new.mkdir()
            for name, each in tensors.items():
                whole = {key: value.detach().cpu().contiguous() for key, value in each.items()}
                safetensors.torch.save_file(whole, new / f"{name}.safetensors")
            write_json(new / VALUES, {"about": self.about, **values})
            seal_folder(new)
            target.parent.mkdir(exist_ok=True)
            # Saved after the last step of an epoch, and again after its dev scores.
            shutil.rmtree(target, ignore_errors=True)
            new.rename(target)
        except (BlurbError, OSError, ValueError, safetensors.SafetensorError) as error:
            _warn_once(f"no checkpoint was written, and the trial goes on: {safe_message(error)}")
            shutil.rmtree(new, ignore_errors=True)
            return
        for other in target.parent.iterdir():
            if other != target:
                shutil.rmtree(other, ignore_errors=True)

    def set_aside(self, reason: str) -> None:
        """Renames the checkpoint, so that it can be examined until the trial is finished."""
        place = folder_of(self.path)
        aside = place.with_name(f"{place.name}-aside")
        shutil.rmtree(aside, ignore_errors=True)
        place.rename(aside)
        _warn_once(
            f"the checkpoint of trial {self.path.name} is not used ({reason}), and the trial begins anew: {aside}"
        )

    def _foreign(self, about: object) -> str:
        """Why a checkpoint is not of this trial and environment, or ""."""
        # Checkpoints once named accelerate, when it was part of the loop; no bit depends on it.
        if not isinstance(about, dict) or about.keys() - {"accelerate"} != self.about.keys():
            return "it is of another version of blurb"
        changed = [
            f"{name} {about[name]}, now {mine}"
            for name, mine in self.about.items()
            if about[name] != mine
        ]
        return f"it would not go on as it was: {'; '.join(changed)}" if changed else ""


def about(trial: str, environment: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of a checkpoint: its trial, and the environment that decides the bits."""
    return {"schema": SCHEMA, "trial": trial, **environment}


def folder_of(path: Path) -> Path:
    """The folder of the checkpoints of a trial."""
    return path.with_name(f".{path.name}.checkpoint")


def all_of(path: Path) -> Iterator[Path]:
    """The existing folders of a trial's checkpoints, including the one that was set aside."""
    place = folder_of(path)
    return (each for each in (place, place.with_name(f"{place.name}-aside")) if each.is_dir())


def remove(path: Path) -> None:
    """Removes the checkpoints of a trial, whose lease the caller holds."""
    for each in all_of(path):
        shutil.rmtree(each, ignore_errors=True)


def _warn_once(text: str) -> None:
    log.warning(text)
    # The log of a trial is a file; a waiting user should see it, too.
    warnings.warn(text, stacklevel=3)
