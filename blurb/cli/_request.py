"""Options and argument handling shared by the commands that train."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from blurb.models import Source
    from blurb.protocols.protocol import Protocol
    from blurb.tasks import Task

F = TypeVar("F", bound=Callable[..., Any])
DATA = (
    click.option(
        "--data", type=click.Path(path_type=Path), help="Data folder in BLURB's layout (not with --suite demo)."
    ),
    click.option(
        "--suite",
        type=click.Choice(["blurb", "demo"]),
        default="blurb",
        show_default=True,
        help="The real datasets, or synthetic ones that are generated as needed.",
    ),
    click.option(
        "--raw",
        type=click.Path(path_type=Path),
        help="Folder of the original releases; needed for ChemProt and DDI without entity dummies (not with --suite "
        "demo).",
    ),
    click.option("--protocol", help="Protocol name or TOML file.  [default: standard; with --suite demo: demo]"),
)
CASING = click.option(
    "--casing",
    type=click.Choice(["cased", "uncased"]),
    help="Overrides whether the tokenizer keeps upper case, if the checkpoint's files are wrong.",
)
MACHINE = (
    click.option("--revision", help="Revision of the model on the Hub."),
    click.option("--trust-remote-code", is_flag=True, help="Allow the checkpoint to run its own code."),
    CASING,
    click.option("--device", default="auto", show_default=True, help="Device: auto, cpu, cuda, cuda:N or mps."),
    click.option(
        "--precision",
        type=click.Choice(["auto", "fp32", "bf16", "fp16"]),
        default="auto",
        show_default=True,
        help="Precision of the encoder; auto is bf16 where the hardware supports it.",
    ),
    click.option(
        "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of trials to run in parallel."
    ),
)


def data_options(command: F) -> F:
    """Adds the options about data and protocol."""
    for option in reversed(DATA):
        command = option(command)
    return command


def machine_options(command: F) -> F:
    """Adds the options about loading and running a model."""
    for option in reversed(MACHINE):
        command = option(command)
    return command


def setting_overrides(overrides: tuple[str, ...], **given: str | None) -> tuple[dict[str, Any], dict[str, str]]:
    """Parses `--set KEY=VALUE` and its shorthands into typed settings, heads and poolings in canonical spelling.

    :returns: the settings, and for each that came from a shorthand its option, so that messages can name it
    """
    from blurb import heads
    from blurb.heads._spec import canonical
    from blurb.protocols import settings

    named = {key: value for key, value in given.items() if value is not None}
    options = {name: f"--{name.replace('_', '-')}" for name in named}
    found = settings.parse_overrides({**_pairs(overrides), **named}, options)
    for kind, registry in (("head", heads.heads), ("pooling", heads.poolings)):
        if kind in found:
            found[kind] = canonical(registry, found[kind])
    return found, options


def _pairs(overrides: tuple[str, ...]) -> dict[str, str]:
    from blurb.errors import SettingsError

    found = {}
    for text in overrides:
        key, separator, value = text.partition("=")
        if not separator or not value:
            raise SettingsError(f"--set must have the form KEY=VALUE (got '{text}').")
        found[key.strip()] = value.strip()
    return found


def folders(
    suite: str, data: Path | None, raw: Path | None, chosen: list[Task], has_suite: bool = True
) -> tuple[Path, Path | None]:
    """The folders of the datasets and of the original releases (None if not given).

    Task files name their own data files and need no --data.

    :param has_suite: whether the command has the option --suite
    """
    from blurb.errors import SettingsError

    if suite == "demo":
        from blurb.corpora import demo

        if data is not None:
            raise SettingsError("--suite demo generates its own data; remove --data.")
        if raw is not None:
            raise SettingsError("--suite demo generates its own originals; remove --raw.")
        if any(task.file for task in chosen):
            raise SettingsError("--suite demo has its own tasks; remove --suite to run a task file.")
        folder = demo.prepare()
        return folder, folder
    if data is None and all(task.file for task in chosen):
        return Path(chosen[0].file).parent, raw
    if data is None:
        hint = " (or use --suite demo, which needs no data)" if has_suite else ""
        raise SettingsError(f"Give the folder of the datasets with --data{hint}.")
    return data, raw


def load_protocol(protocol: str | None, suite: str) -> Protocol:
    """The named protocol, or by default that of the suite."""
    from blurb.protocols.protocol import load

    return load(protocol or ("demo" if suite == "demo" else "standard"))


def check_files(chosen: list[Task], folder: Path) -> None:
    """Raises a DataError that lists every missing dataset, before anything is trained."""
    from blurb.data.splits import elsewhere, path_of
    from blurb.errors import DataError
    from blurb.tasks import SPLITS

    if not folder.is_dir():
        raise DataError("the data folder does not exist.", folder)
    missing = {
        task.name: [task.files[split] for split in SPLITS if not path_of(task, folder, split).is_file()]
        for task in chosen
    }
    missing = {task: paths for task, paths in missing.items() if paths}
    if missing:
        there = ",".join(task.name for task in chosen if task.name not in missing)
        lost = "; ".join(f"{task} ({', '.join(paths)})" for task, paths in missing.items())
        hint = f" To run the others: --tasks {there}" if there else elsewhere(chosen, folder)
        raise DataError(f"missing files: {lost}.{hint}", folder)


def check_writable(**places: Path) -> None:
    """Raises a SettingsError if an option's folder cannot be created or written; leaves nothing behind.

    :param places: folder by option name
    """
    from blurb.errors import SettingsError

    for option, folder in places.items():
        nearest = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
        try:
            with tempfile.TemporaryDirectory(dir=nearest):
                pass
        except OSError as error:
            raise SettingsError(f"--{option}: cannot write to {folder}: {error.strerror}.") from error


def source(
    reference: str, name: str | None, revision: str | None, remote_code: bool, folder: Path, casing: str | None = None
) -> Source:
    """Resolves a model reference; a model that starts from scratch gets a vocabulary from the data."""
    from blurb import names
    from blurb.errors import SettingsError
    from blurb.models import resolve, scratch

    if name is not None:
        names.check(name, "The model name")
    if reference != reference.encode(errors="replace").decode():
        shown = reference.encode("ascii", "backslashreplace").decode()
        raise SettingsError(f"The folder name '{shown}' is not valid UTF-8; rename the folder.")
    if reference.startswith(scratch.PREFIX):
        return resolve(str(scratch.build(reference, folder)), name or reference, casing=casing)
    return resolve(reference, name, revision, remote_code, casing)
