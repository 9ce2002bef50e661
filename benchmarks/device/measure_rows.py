"""Whole rows: all datasets under a protocol, seed by seed, with the time of each and its scores."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.device.cells import Cell, Context, Figures, Unfinished
from benchmarks.device.commands import all_sets, command, ended, trials

JOBS = 4
COLUMNS = ("encoder", "protocol", "seed", "sets", "wall minutes", "trials, minutes", "at a time", "mean of task types")
NOTE = (
    "The mean of task types is that of the means of the sets that were measured, on test; it is BLURB's score where "
    "all thirteen sets are there. MiniLM has weights in half precision, and a random encoder's scores are left out."
)


def cells(context: Context, model: str, protocol: str, seeds: int, scores: bool = True) -> Iterator[Cell]:
    """A cell for each seed; the trials of the seeds before are in the store and cost nothing.

    :param scores: False where only the time means something
    """
    for seed in range(1, context.pick(seeds, 1) + 1):
        yield Cell(f"{model}, {protocol}, {seed}", partial(measure, context, model, protocol, seed, scores))


def measure(context: Context, model: str, protocol: str, seed: int, scores: bool) -> Figures:
    """All sets with one more seed.

    :raises Unfinished: if the time was up, with the sets so far; their trials are saved
    """
    jobs = context.pick(JOBS, 1)
    sets = all_sets(context.data) if not context.small else "biosses"
    used = [protocol, *context.pick([], ["--set", "max_train=32", "--set", "max_eval=16", "--set", "epochs=1"])]
    store = context.work / f"rows-{model}-{protocol}"
    options = ["--tasks", sets, "--protocol", *used, "--seeds", str(seed), "--jobs", str(jobs), "--resume-trials"]
    begun = time.perf_counter()
    whole = ended(context, command(context, context.model(model), store, "--name", model, *options))
    figures = {"wall": time.perf_counter() - begun, "jobs": jobs, "sets": _sets(store, seed, scores)}
    if not whole:
        raise Unfinished(figures)
    return figures


def _sets(store: Any, seed: int, scores: bool) -> dict[str, dict[str, float | None]]:
    """Dataset -> seconds of its parts, and its score on test times 100."""
    table: dict[str, dict[str, float | None]] = {}
    for record in trials(store):
        if record.trial.seed != seed:
            continue
        told = record.provenance
        table[record.trial.task] = {
            "train": told.train_seconds,
            "choose": told.facts.get("choose_seconds"),
            "predict": told.predict_seconds,
            **({"test": round(100 * record.score("test"), 2)} if scores else {}),
        }
    return table


def mean_of_types(sets: Mapping[str, Mapping[str, Any]]) -> float | None:
    """The mean of the means of task types; None without scores."""
    from blurb import tasks

    kinds: dict[str, list[float]] = defaultdict(list)
    for name, one in sets.items():
        if "test" in one:
            kinds[tasks.get(name).type].append(one["test"])
    return statistics.mean(statistics.mean(each) for each in kinds.values()) if kinds else None


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    table = []
    for name, one in found.items():
        mean = mean_of_types(one["sets"])
        spent = sum((each["train"] or 0) + (each["predict"] or 0) for each in one["sets"].values())
        more = " so far" if one.get("unfinished") else ""
        table.append(
            (
                *name.split(", "),
                f"{len(one['sets'])}{more}",
                f"{one['wall'] / 60:.1f}",
                f"{spent / 60:.1f}",
                str(one["jobs"]),
                "" if mean is None else f"{mean:.2f}",
            )
        )
    return table
