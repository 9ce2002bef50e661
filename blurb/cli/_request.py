"""What the commands that train have in common: options, and how they read their arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from blurb.models import Source
    from blurb.tasks import Task

F = TypeVar("F", bound=Callable[..., Any])
MACHINE = (
    click.option("--revision", help="Revision of a model on the Hub."),
    click.option("--trust-remote-code", is_flag=True, help="Let code that comes with a checkpoint run."),
    click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda, cuda:N or mps."),
    click.option(
        "--precision",
        type=click.Choice(["auto", "fp32", "bf16", "fp16"]),
        default="auto",
        show_default=True,
        help="Of the encoder; auto is bf16 where the hardware has it.",
    ),
    click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Trials at a time."),
)


def machine_options(command: F) -> F:
    """Adds the options on loading and running a model."""
    for option in reversed(MACHINE):
        command = option(command)
    return command


def changes(overrides: tuple[str, ...], **given: str | None) -> dict[str, Any]:
    """`--set KEY=VALUE` and its shorthands as typed settings, heads and poolings in their one spelling."""
    from blurb import heads
    from blurb.heads._spec import canonical
    from blurb.training import settings

    named = {key: value for key, value in given.items() if value is not None}
    found = settings.parse_overrides({**_pairs(overrides), **named})
    for kind, registry in (("head", heads.heads), ("pooling", heads.poolings)):
        if kind in found:
            found[kind] = canonical(registry, found[kind])
    return found


def _pairs(overrides: tuple[str, ...]) -> dict[str, str]:
    from blurb.errors import SettingsError

    found = {}
    for text in overrides:
        key, separator, value = text.partition("=")
        if not separator or not value:
            raise SettingsError(f"--set wants KEY=VALUE, not '{text}'.")
        found[key.strip()] = value.strip()
    return found


def check_files(chosen: list[Task], folder: Path) -> None:
    """DataError that lists every dataset that is not there, before anything is trained."""
    from blurb.errors import DataError

    if not folder.is_dir():
        raise DataError("the data folder does not exist.", folder)
    missing = {task.name: [path for path in task.files.values() if not (folder / path).is_file()] for task in chosen}
    missing = {task: paths for task, paths in missing.items() if paths}
    if missing:
        there = ",".join(task.name for task in chosen if task.name not in missing)
        lost = "; ".join(f"{task} ({', '.join(paths)})" for task, paths in missing.items())
        raise DataError(f"not there: {lost}." + (f" To run the others: --tasks {there}" if there else ""), folder)


def source(reference: str, name: str | None, revision: str | None, remote_code: bool, folder: Path) -> Source:
    """The model that was named; one that starts from scratch is built on the data."""
    from blurb.models import resolve, scratch

    if reference.startswith(scratch.PREFIX):
        return resolve(str(scratch.build(reference, folder)), name=name or reference)
    return resolve(reference, name, revision, remote_code)
