"""What the commands that train have in common: options, and how they read their arguments."""

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
    click.option("--data", type=click.Path(path_type=Path), help="Folder in the BLURB layout (not for --suite demo)."),
    click.option(
        "--suite",
        type=click.Choice(["blurb", "demo"]),
        default="blurb",
        show_default=True,
        help="The real datasets, or a synthetic suite that is made on the spot.",
    ),
    click.option(
        "--raw",
        type=click.Path(path_type=Path),
        help="Folder of the original releases, for the inputs that need them (ChemProt and DDI without dummies; "
        "not for --suite demo).",
    ),
    click.option("--protocol", help="Name or TOML file.  [default: standard; demo for --suite demo]"),
)
CASING = click.option(
    "--casing",
    type=click.Choice(["cased", "uncased"]),
    help="Whether the tokenizer keeps capitals, for a checkpoint whose files are wrong about it.",
)
MACHINE = (
    click.option("--revision", help="Revision of a model on the Hub."),
    click.option("--trust-remote-code", is_flag=True, help="Let code that comes with a checkpoint run."),
    CASING,
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


def data_options(command: F) -> F:
    """Adds the options on what is run: the data, and the protocol, which goes with the suite."""
    for option in reversed(DATA):
        command = option(command)
    return command


def machine_options(command: F) -> F:
    """Adds the options on loading and running a model."""
    for option in reversed(MACHINE):
        command = option(command)
    return command


def changes(overrides: tuple[str, ...], **given: str | None) -> tuple[dict[str, Any], dict[str, str]]:
    """`--set KEY=VALUE` and its shorthands as typed settings, heads and poolings in their one spelling.

    Also the shorthand that a setting was given with: messages name what was typed.
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
            raise SettingsError(f"--set wants KEY=VALUE, not '{text}'.")
        found[key.strip()] = value.strip()
    return found


def folders(
    suite: str, data: Path | None, raw: Path | None, chosen: list[Task], has_suite: bool = True
) -> tuple[Path, Path | None]:
    """Where the datasets and, if they are anywhere, the original releases are.

    Tasks from files say themselves where their data are, and need no --data.

    :param has_suite: the command has the option --suite
    """
    from blurb.errors import SettingsError

    if suite == "demo":
        from blurb.corpora import demo

        if data is not None:
            raise SettingsError("--suite demo makes its own data; leave --data out.")
        if raw is not None:
            raise SettingsError("--suite demo makes its own originals; leave --raw out.")
        if any(task.file for task in chosen):
            raise SettingsError("--suite demo has tasks of its own; a task file goes without --suite.")
        folder = demo.prepare()
        return folder, folder
    if data is None and all(task.file for task in chosen):
        return Path(chosen[0].file).parent, raw
    if data is None:
        hint = " (or try --suite demo, which needs none)" if has_suite else ""
        raise SettingsError(f"Give the folder of the datasets with --data{hint}.")
    return data, raw


def load_protocol(protocol: str | None, suite: str) -> Protocol:
    """The protocol that was named, else the suite's."""
    from blurb.protocols.protocol import load

    return load(protocol or ("demo" if suite == "demo" else "standard"))


def check_files(chosen: list[Task], folder: Path) -> None:
    """DataError that lists every dataset that is not there, before anything is trained."""
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
        raise DataError(f"not there: {lost}.{hint}", folder)


def check_writable(**places: Path) -> None:
    """SettingsError if the folder that an option names could not be made or written; nothing stays behind.

    :param places: folder by name of the option
    """
    from blurb.errors import SettingsError

    for option, folder in places.items():
        nearest = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
        try:
            with tempfile.TemporaryDirectory(dir=nearest):
                pass
        except OSError as error:
            raise SettingsError(f"--{option}: {folder} cannot be written: {error.strerror}.") from error


def source(
    reference: str, name: str | None, revision: str | None, remote_code: bool, folder: Path, casing: str | None = None
) -> Source:
    """The model that was named; one that starts from scratch is built on the data."""
    from blurb import names
    from blurb.errors import SettingsError
    from blurb.models import resolve, scratch

    if name is not None:
        names.check(name, "The name of the model")
    if reference != reference.encode(errors="replace").decode():
        shown = reference.encode("ascii", "backslashreplace").decode()
        raise SettingsError(f"The folder '{shown}' has bytes in its name that are not UTF-8; rename it.")
    if reference.startswith(scratch.PREFIX):
        return resolve(str(scratch.build(reference, folder)), name or reference, casing=casing)
    return resolve(reference, name, revision, remote_code, casing)
