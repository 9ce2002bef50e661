"""Whole rows: all datasets under a protocol, seed by seed, with the time of each and its scores."""

from __future__ import annotations

import json
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.device.cells import Cell, Context, Figures, Unfinished
from benchmarks.device.commands import command, ended, sets_at_hand, trials

JOBS = 4
COLUMNS = (
    "encoder",
    "protocol",
    "seed",
    "sets",
    "wall minutes",
    "trials, minutes",
    "at a time",
    "mean of task types",
)
NOTE = (
    "The mean of task types is on test, of the sets at hand. MiniLM has weights in half precision; scores of random "
    "encoders are left out."
)


def cells(context: Context, model: str, protocol: str, scores: bool = True) -> Iterator[Cell]:
    """A cell for each seed of the protocol, with the datasets that have it; those of the seeds before cost nothing.

    :param scores: False where only the time means something
    """
    from blurb.protocols.protocol import load_protocol_file

    seeds = {
        task.name: load_protocol_file(protocol).seeds(task) for task in sets_at_hand(context.data)
    }
    seeds = context.pick(seeds, {"biosses": (1,)})
    for seed in sorted({seed for each in seeds.values() for seed in each}):
        names = [name for name, each in seeds.items() if seed in each]
        yield Cell(
            f"{model}, {protocol}, {seed}",
            partial(measure, context, model, protocol, seed, names, scores),
        )


def measure(
    context: Context, model: str, protocol: str, seed: int, names: Sequence[str], scores: bool
) -> Figures:
    """Datasets with one more seed.

    :raises Unfinished: if the time was up, with the sets so far; their trials are saved
    """
    jobs = context.pick(JOBS, 1)
    used = [
        protocol,
        *context.pick([], ["--set", "max_train=32", "--set", "max_eval=16", "--set", "epochs=1"]),
    ]
    store = context.work / f"rows-{model}-{protocol}"
    options = [
        "--tasks",
        ",".join(names),
        "--protocol",
        *used,
        "--seeds",
        str(seed),
        "--jobs",
        str(jobs),
    ]
    begun = time.perf_counter()
    whole = ended(
        context,
        command(context, context.model(model), store, "--name", model, *options, "--resume-trials"),
    )
    wall = _of_all_calls(store.with_name(f"{store.name}-{seed}.json"), time.perf_counter() - begun)
    figures = {"wall": wall, "jobs": jobs, "asked": len(names), "sets": _sets(store, seed, scores)}
    if not whole:
        raise Unfinished(figures)
    return figures


def _of_all_calls(path: Path, seconds: float) -> float:
    """The seconds of this call and of those before, which the file keeps."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else 0.0
    path.write_text(json.dumps(before + seconds), encoding="utf-8")
    return float(before + seconds)


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
    table, all_sets = [], max((one["asked"] for one in found.values()), default=0)
    for name, one in found.items():
        mean = mean_of_types(one["sets"]) if len(one["sets"]) == all_sets else None
        spent = sum((each["train"] or 0) + (each["predict"] or 0) for each in one["sets"].values())
        lacking = f" of {one['asked']}" if len(one["sets"]) < one["asked"] else ""
        table.append(
            (
                *name.split(", "),
                f"{len(one['sets'])}{lacking}{' so far' if one.get('unfinished') else ''}",
                f"{one['wall'] / 60:.1f}",
                f"{spent / 60:.1f}",
                str(one["jobs"]),
                "" if mean is None else f"{mean:.2f}",
            )
        )
    return table
