"""Options shared by commands; those of the commands that train are fields of `blurb.api.options` by their names."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from blurb.cli import _complete

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


class Seeds(click.IntRange):
    """The number of seeds."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if isinstance(value, str) and "," in value:
            count = len(value.split(","))
            self.fail(f"give a number: --seeds {count} runs seeds 1 to {count} (got '{value}').", parameter, context)
        return super().convert(value, parameter, context)


class Points(click.FloatRange):
    """A number of points from 0 on; neither NaN nor infinity, which would switch a limit off."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """The number."""
        points = float(super().convert(value, parameter, context))
        if not math.isfinite(points):
            self.fail(f"{value} is not a number of points.", parameter, context)
        return points


POINTS = Points(min=0)
ACROSS = click.option(
    "--across", type=click.Choice(["protocol", "recipe", "overrides", "unknown"]), multiple=True,
    help="Judge rows that differ in this, or do not say (unknown); repeatable.",
)  # fmt: skip
STORE = click.option(
    "--output",
    type=click.Path(path_type=Path),
    default="runs",
    show_default=True,
    help="Store: the folder of the trials.",
)
ALLOW = click.option(
    "--allow-code",
    multiple=True,
    metavar="HASH",
    help="Run the sweep of this hash, which another user planned, with the code and files that it names; repeatable.",
)
RESULTS = click.option(
    "--results",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Also show the rows of this results.csv (repeatable).",
)
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
    click.option(
        "--protocol",
        shell_complete=_complete.protocols,
        help="Protocol name or TOML file.  [default: standard; with --suite demo: demo]",
    ),
    click.option("--seeds", type=Seeds(min=1), help="Run seeds 1 to N instead of the protocol's."),
    click.option(
        "--set",
        "settings",
        shell_complete=_complete.keys,
        multiple=True,
        metavar="KEY=VALUE",
        callback=pairs,
        help="Override a setting of the protocol, such as warmup=0 (keys are listed below); repeatable.",
    ),
    click.option("--lr", type=float, help="Peak learning rate; short for --set lr=..."),
    click.option("--batch-size", type=int, help="Inputs per step; short for --set batch_size=..."),
    click.option("--epochs", type=int, help="Epochs; short for --set epochs=..."),
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        help="Use at most this many examples of train, dev and test each, for a try: such a row has no rank. Short for "
        "--set max_train=N --set max_eval=N.",
    ),
    STORE,
)
HEAD = click.option(
    "--head",
    shell_complete=_complete.heads,
    metavar="FILE.py:NAME",
    help="The head, if it is a file of your own; a model or trial brings no code.",
)
POOLING = click.option(
    "--pooling",
    shell_complete=_complete.poolings,
    metavar="FILE.py:NAME",
    help="The pooling, if it is a file of your own.",
)
TRUST = click.option("--trust-remote-code", is_flag=True, help="Allow the checkpoint to run its own code.")
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
    TRUST,
    CASING,
    click.option(
        "--device",
        shell_complete=_complete.devices,
        default="auto",
        show_default=True,
        help="Device: auto, cpu, cuda, cuda:N or mps.",
    ),
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


class WithSettings(click.Command):
    """A command whose help lists the keys of `--set`."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        from blurb.protocols.settings import groups

        super().format_options(context, formatter)
        with formatter.section("Keys of --set (their values: blurb protocols show)"):
            formatter.write_dl([(subject, ", ".join(keys)) for subject, keys in groups().items()])


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
