"""What was meant by an option or argument that a command does not have."""

from __future__ import annotations

import re
from pathlib import Path

import click

from blurb import tasks
from blurb.names import resolve_name
from blurb.protocols.settings import ELSEWHERE, FIELDS

OPTIONS_MEANT = {
    "--wandb": ("--track wandb",),
    "--mlflow": ("--track mlflow",),
    "--tensorboard": ("--track tensorboard",),
    "--trackio": ("--track trackio",),
    "-o": ("--out", "--output"),
    "--output-dir": ("--output", "--out"),
    "--out-dir": ("--out", "--output"),
    "--data-dir": ("--data",),
    "-t": ("--tasks", "--task"),
    "--dataset": ("--tasks", "--task"),
    "--datasets": ("--tasks", "--task"),
    "--task": ("--tasks",),
    "--tasks": ("--task",),
    "--seed": ("--seeds",),
    "-n": ("--name",),
    "-v": ("--version",),
    "--gpu": ("--device cuda",),
    "--cpu": ("--device cpu",),
    "--fp16": ("--precision fp16",),
    "--bf16": ("--precision bf16",),
    "--num-workers": ("--jobs",),
    "--resume": ("--resume-trials",),
    "--json": ("--format json",),
    "--csv": ("--format csv",),
}
"""Options of other tools -> options here; the first that a command has is meant."""
OPENED = "blurb opens no browser: open the file that it names."


def _options_of(error: click.UsageError) -> set[str]:
    """The options of the command that was not understood."""
    return (
        {option for each in error.ctx.command.get_params(error.ctx) for option in each.opts}
        if error.ctx
        else set()
    )


def explain_error(error: click.UsageError) -> click.UsageError:
    """The error, with what was meant where that is known."""
    return _with_meant(error) if isinstance(error, click.NoSuchOption) else _with_option(error)


def _with_meant(error: click.NoSuchOption) -> click.NoSuchOption:
    """An unknown option with what was meant: one of other tools, or a setting by its name or that of transformers."""
    name = error.option_name.lstrip("-").replace("-", "_")
    setting, options = ELSEWHERE.get(name, name), _options_of(error)
    other = [
        each
        for each in OPTIONS_MEANT.get(error.option_name, ())
        if each.partition(" ")[0] in options
    ]
    if other or error.option_name == "--open":
        hint = f"Did you mean '{other[0]}'?" if other else OPENED
        return click.NoSuchOption(
            error.option_name, f"No such option '{error.option_name}'. {hint}", ctx=error.ctx
        )
    if setting not in FIELDS or "--set" not in options:
        return error
    typed = f"--{setting.replace('_', '-')}"
    hint = (
        f"Did you mean '{typed}'?" if typed in options else f"It is a setting: --set {setting}=..."
    )
    return click.NoSuchOption(
        error.option_name, f"No such option '{error.option_name}'. {hint}", ctx=error.ctx
    )


def _with_option(error: click.UsageError) -> click.UsageError:
    """An argument too many where a task, the folder of a store or a file to write is an option."""
    extra = re.fullmatch(r"Got unexpected extra argument \((\S+)\)\.?", error.message)
    if extra is None:
        return error
    selections = tasks.selections()
    likely = ["--out", "--output"]
    if resolve_name(extra[1], selections) in selections:
        likely = ["--task", "--tasks"]
    elif Path(extra[1]).is_dir():
        likely.reverse()
    meant = [option for option in likely if option in _options_of(error)]
    hint = f" Did you mean {meant[0]} {extra[1]}?" if meant else ""
    return click.UsageError(f"{error.message.rstrip('.')}.{hint}", error.ctx)
