"""Options of commands, written once: type, default and words of a field are those of Python, command line and docs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from blurb import fields
from blurb.fields import Field, declared
from blurb.protocols.settings import MOST_SEEDS

Keep: TypeAlias = Literal["none", "best", "replace"]
KEEP: tuple[Keep, ...] = ("none", "best", "replace")
GROUPS = ("Tasks and data", "Protocol", "Model", "Trials", "Machine", "Results")
"""In the order of help, of the signature of `blurb.run` and of docs/reference.md."""


MOST_JOBS = 4_096
"""Trials at a time on one machine: a larger number is a typo."""


@dataclass(frozen=True)
class Option(Field):
    """What a command line has to know of a field beside what its value may be; `bool` is a flag.

    :param flag: if that is not the name with hyphens
    :param metavar: what help calls the value
    :param path: "dir" or "file" if a path that is there can be nothing else
    :param complete: function of `blurb.cli._complete` that completes values
    :param page: of docs/ that says more
    """

    flag: str = ""
    metavar: str | None = None
    path: Literal["", "dir", "file"] = ""
    complete: str = ""
    page: str = ""


def option(default: Any, group: str, help: str, **more: Any) -> Any:
    """A field of a frozen data class that commands offer as an option; fields of others are for Python alone.

    :param default: `dataclasses.MISSING` for one that must be given
    :param group: of `GROUPS`
    :param help: one or two sentences
    :param more: of `Option`
    """
    return declared(default, Option(group=group, help=help, **more))


def options_of(kind: type) -> dict[str, tuple[dataclasses.Field[Any], Option]]:
    """The options of a class by name, in the order of their groups."""
    declarations = fields.of(kind)
    found = {each.name: (each, declarations[each.name]) for each in dataclasses.fields(kind) if each.metadata}
    return dict(sorted(found.items(), key=lambda item: GROUPS.index(item[1][1].group)))


@dataclass(frozen=True, kw_only=True)
class TrialOptions:
    """Options that concern the trials of any command; a `planning.plan.Request` has them, too.

    :param suite: its rows never mix with those of another
    :param seeds: seeds 1 to N; None for the protocol's; a word of what decides about N, before trials are planned
    :param progress: whether estimates, progress and failures are printed to stderr
    :param track, keep_model, resume_trials, jobs, dry_run: no part of a trial's identity
    """

    suite: str = option(
        "blurb",
        "Tasks and data",
        "The real datasets, or synthetic ones that are generated as needed.",
        choices=("blurb", "demo"),
    )
    seeds: int | str | None = option(
        None, "Trials", "Run seeds 1 to N instead of the protocol's.", low=1, most=MOST_SEEDS
    )
    device: str = option("auto", "Machine", "Device: auto, cpu, cuda, cuda:N or mps.")
    track: str | None = option(
        None,
        "Trials",
        "Log loss, learning rate and scores of every trial to an experiment tracker.",
        choices=("tensorboard", "wandb", "mlflow", "trackio"),
        page="extensions/reports.md#experiment-trackers",
    )
    keep_model: Keep = option(
        "none",
        "Trials",
        "Keep the trained models for blurb predict; 'replace' also replaces a finished trial whose "
        "model cannot be reproduced exactly.",
        choices=KEEP,
        page="models.md",
    )
    resume_trials: bool = option(
        False,
        "Trials",
        "Write a checkpoint of each trial after every epoch and on interruption, and resume from it.",
        page="long-runs.md",
    )

    jobs: int = option(1, "Machine", "Number of trials to run in parallel.", low=1, most=MOST_JOBS)
    dry_run: bool = option(
        False, "Trials", "List the trials with their estimated cost, and stop.", page="protocols.md#cost"
    )
    progress: bool = True

    @property
    def of_trials(self) -> dict[str, Any]:
        """These options alone."""
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(TrialOptions)}
