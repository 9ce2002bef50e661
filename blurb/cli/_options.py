"""Options shared by the commands that train; each is a field of `blurb.api.options` by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def pairs(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """The settings given with `--set KEY=VALUE`."""
    from blurb.errors import SettingsError

    found = {}
    for text in given:
        key, separator, value = text.partition("=")
        if not separator or not value:
            raise SettingsError(f"--set must have the form KEY=VALUE (got '{text}').")
        found[key.strip()] = value.strip()
    return found


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
    click.option("--seeds", type=click.IntRange(min=1), help="Run seeds 1 to N instead of the protocol's."),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        callback=pairs,
        help="Override a setting of the protocol; repeatable.",
    ),
    click.option(
        "--output", type=click.Path(path_type=Path), default="runs", show_default=True, help="Folder for the trials."
    ),
)
CASING = click.option(
    "--casing",
    type=click.Choice(["cased", "uncased"]),
    help="Overrides whether the tokenizer keeps upper case, if the checkpoint's files are wrong.",
)
TOKENIZER = click.option(
    "--tokenizer", metavar="REF", help="Folder or Hub id of the tokenizer, if it is not that of the checkpoint."
)
MACHINE = (
    click.option("--revision", help="Revision of the model on the Hub."),
    TOKENIZER,
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
