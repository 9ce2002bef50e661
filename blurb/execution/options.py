"""Options of commands, written once: type, default and words of a field are those of Python, command line and docs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

from blurb.options import option
from blurb.protocols.settings import MOST_SEEDS

Keep: TypeAlias = Literal["none", "best", "replace"]
Checkpointing: TypeAlias = Literal["auto", "on", "off"]
MOST_JOBS = 4_096
"""Trials at a time on one machine: a larger number is a typo."""


@dataclass(frozen=True, kw_only=True)
class TrialOptions:
    """Options that concern the trials of any command; a `planning.request.Request` has them, too.

    :param suite: its rows never mix with those of another
    :param seeds: seeds 1 to N; None for the protocol's; a word of what decides about N, before trials are planned
    :param progress: whether estimates, progress and failures are printed to stderr
    :param track, keep_model, resume_trials, checkpointing, jobs, dry_run: no part of a trial's identity
    """

    suite: str = option(
        "blurb",
        "Tasks and data",
        "Datasets: blurb, demo (BLURB's tasks on synthetic data, which comes with blurb), mtl-ner, or a folder with "
        "suite.toml.",
        complete="suites",
        page="suites.md",
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
        "Keep the trained models for blurb predict. Finished trials without a model are trained again; where "
        "their predictions cannot be reproduced, 'best' fails and 'replace' replaces the trial.",
        choices=get_args(Keep),
        page="models.md",
    )
    resume_trials: bool = option(
        False,
        "Trials",
        "Write a checkpoint of each trial after every epoch and on interruption, and resume from it.",
        page="long-runs.md",
    )

    checkpointing: Checkpointing = option(
        "auto",
        "Machine",
        "Compute activations twice instead of keeping them, which takes less memory and a third more time; auto does "
        "so only where a single input does not fit otherwise.",
        choices=get_args(Checkpointing),
        page="large-models.md",
    )
    jobs: int | str | None = option(
        None,
        "Machine",
        "Number of trials to run in parallel. The default on this machine, auto, is 1 on a CPU, and on a GPU as many "
        "as have room, at most 6.",
        low=1,
        most=MOST_JOBS,
        words=("auto",),
    )
    dry_run: bool = option(
        False,
        "Trials",
        "List the trials with their estimated cost, and stop.",
        page="protocols.md#cost",
    )
    progress: bool = True

    @property
    def of_trials(self) -> dict[str, Any]:
        """These options alone."""
        return {each.name: getattr(self, each.name) for each in fields(TrialOptions)}
