"""Engines run many trials: in processes of this machine, on a Ray cluster, or as jobs of Slurm.

An engine is named as a head is, with its options: `local`, `ray,gpus=0.5`, `slurm,partition=gpu,minutes=30`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.errors import SettingsError, UnknownName
from blurb.names import with_options

if TYPE_CHECKING:
    from blurb.runs.engine import Engine

NAMES = ("local", "ray", "slurm")


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Name and options of an engine.

    :raises UnknownName: if there is no such engine
    :raises SettingsError: if an option is not `key=value`, or is given twice
    """
    name, options = with_options(text, f"--engine {text}")
    if name not in NAMES:
        raise UnknownName("engine", name, NAMES)
    if name == "ray":
        from blurb.runs.engines.ray_tasks import OPTIONS

        for key in options:
            if key not in OPTIONS:
                raise UnknownName("option of the engine 'ray'", key, OPTIONS)
    if name == "local" and options:
        raise SettingsError(f"--engine {text}: the local engine has no options; how many trials run is --jobs.")
    return name, options


def elsewhere(text: str) -> bool:
    """Whether the trials run on other machines, whose devices are not known here."""
    name, options = parse(text)
    return name == "slurm" or (name == "ray" and bool(options.get("address") or os.environ.get("RAY_ADDRESS")))


def of(text: str, jobs: int = 1, leaderboard: Path | None = None, shown: bool = False) -> Engine:
    """The engine of a text such as `slurm,partition=gpu`.

    :param jobs: number of processes of the local engine
    :param leaderboard: table that Slurm's jobs write
    :param shown: whether Slurm's script is printed and not submitted
    """
    name, options = parse(text)
    if name == "ray":
        from blurb.runs.engines.ray_tasks import RayEngine

        return RayEngine.of(options)
    if name == "slurm":
        from blurb.runs.engines.slurm import Slurm, SlurmEngine

        return SlurmEngine(Slurm.of(options, shown), leaderboard)
    from blurb.runs.engine import LocalEngine

    return LocalEngine(jobs)


def check_there(text: str, shown: bool = False) -> None:
    """Raises a BlurbError if what the engine needs is not on this machine.

    :param shown: whether Slurm's script is only printed
    """
    name, _ = parse(text)
    if name == "ray":
        from blurb.runs.engines import ray_tasks

        ray_tasks.check_there()
    if name == "slurm" and not shown:
        from blurb.runs.engines import slurm

        slurm.check_there()
