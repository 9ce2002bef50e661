"""Engines run the trials of a sweep: one is a module here, an entry point in `blurb.engines`, or `package:Class`.

An engine is named as a head is, with its options: `local`, `ray,gpus=0.5`, `slurm,partition=gpu,minutes=30`. To write
one: `from blurb.execution.engine import Engine` (docs/extend.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from blurb.messages import SettingsError, opt
from blurb.registry import Registry

if TYPE_CHECKING:
    from blurb.execution.engine import Engine, Launch

engines: Registry[type[Engine]] = Registry(
    "engine",
    "blurb.execution.engines",
    "ENGINE",
    "blurb.engines",
    "blurb.execution.engine:Engine",
    classes=True,
)
DEFAULT = "local"


def parse(text: str, launch: Launch) -> Engine:
    """The engine that a person typed, with its options.

    :raises UnknownName: if there is no such engine, or it has no such option
    :raises SettingsError: if an option is not `key=value`, is given twice or has a wrong value, or there is a number of
        trials at a time that the engine does not ask
    """
    from blurb.heads import _spec

    engines.load(text.partition(",")[0].strip())  # its code, if it is a file of one's own
    kind, options = _spec.parse_spec(engines, text)
    if launch.jobs not in (None, 1) and kind.without_jobs:
        raise SettingsError(
            f"{opt('jobs')} is of trials on this machine, and says nothing to {opt('engine', text)}",
            fix=f"leave it out; {kind.without_jobs}.",
        )
    engine: Engine = kind(launch, **options)
    return engine


def here(jobs: int | str | None = 1) -> Engine:
    """The engine of this machine.

    :param jobs: trials at a time, as of `Launch`
    """
    from blurb.execution.engine import Launch

    return parse(DEFAULT, Launch(jobs))


def is_queued(folder: Path) -> bool:
    """Whether jobs of a sweep are queued or running somewhere, which its command handed over."""
    return any(engine.is_queued(folder) for engine in engines.usable().values())
