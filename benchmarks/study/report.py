"""The tables and the picture of the study, from what stands in its folder of results.

python -m benchmarks.study.report
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping
from pathlib import Path

from benchmarks.pictures import stamp
from benchmarks.study import RESULTS, records
from benchmarks.study.agreement import Agreement, Scores, agreement, run_sd, split_tau
from benchmarks.study.derive import ENCODERS
from blurb import tasks

REFERENCE = "standard-short"
PROTOCOLS = (REFERENCE, "quick", "sketch", "probe")
ENOUGH = 3
"""Encoders that a set needs under both, to speak of an order."""
RANDOM = ("noise80",)
"""Left out of the agreement: whoever cannot tell a broken encoder from a whole one tells nothing."""
CHEAP = {
    "quick with 3 seeds": ("quick", 3),
    "quick": ("quick", 1),
    "sketch": ("sketch", 1),
    "probe": ("probe", 1),
}
"""Name -> (protocol, seeds)."""


def scores(folder: Path) -> dict[tuple[str, str], dict[str, list[float]]]:
    """(protocol, dataset) -> encoder -> test scores, times 100, by seed; of the protocols as they are now."""
    lines = sorted(records.read(folder / "results.csv"), key=lambda line: int(line["seed"]))
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for protocol, task in itertools.product(PROTOCOLS, sorted({line["task"] for line in lines})):
        seen: dict[tuple[str, str], str] = {}
        for line in records.of(lines, protocol, task):
            key = line["model"], line["seed"]
            if line["split"] != "test" or seen.get(key) == line["trial"]:
                continue  # the task's own metric comes first
            if key in seen:
                raise SystemExit(
                    f"{protocol}, {task}, {' seed '.join(key)}: two trials, {seen[key]} and {line['trial']}."
                )
            seen[key] = line["trial"]
            found.setdefault((protocol, task), {}).setdefault(line["model"], []).append(
                float(line["value"])
            )
    return found


def cheap(found: Mapping[tuple[str, str], Scores], name: str, task: str) -> dict[str, list[float]]:
    """The scores of a cheap protocol: with fewer seeds than were run, of the first of them."""
    protocol, seeds = CHEAP[name]
    return {
        model: list(runs[:seeds])
        for model, runs in found.get((protocol, task), {}).items()
        if len(runs) >= seeds
    }


def seconds(folder: Path, protocol: str, task: str) -> float:
    """Mean seconds of a trial, all encoders together."""
    lines = records.of(records.read(folder / "times.csv"), protocol, task)
    each = [
        float(line["train_seconds"] or 0) + float(line["predict_seconds"] or 0) for line in lines
    ]
    return statistics.fmean(each) if each else math.nan


def table_of_scores(found: Mapping[tuple[str, str], Scores], task: str) -> list[str]:
    """A row an encoder, a column a protocol: mean ± sd of the seeds."""
    protocols = [name for name in PROTOCOLS if (name, task) in found]
    lines = [f"| {task} | " + " | ".join(protocols) + " |", "|---|" + "---:|" * len(protocols)]
    for encoder in ENCODERS:
        cells = []
        for protocol in protocols:
            runs = found[protocol, task].get(encoder, [])
            spread = f" ± {statistics.stdev(runs):.2f}" if len(runs) > 1 else ""
            cells.append(f"{statistics.fmean(runs):.2f}{spread}" if runs else "")
        if any(cells):
            lines.append(f"| {encoder} | " + " | ".join(cells) + " |")
    return lines


def table_of_agreement(found: Mapping[tuple[str, str], Scores], folder: Path) -> list[str]:
    """A row a protocol and dataset, and one of all datasets together for the share of pairs."""
    lines = [
        "| protocol | dataset | pairs told apart | right | after Holm | right | tau (95 %) | reference's tau | run sd "
        "| s a trial |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    there = sorted({task for protocol, task in found if protocol == REFERENCE})
    for name in CHEAP:
        all_: list[Agreement] = []
        for task in there:
            reference, other = (
                {model: runs for model, runs in one.items() if model not in RANDOM}
                for one in (found[REFERENCE, task], cheap(found, name, task))
            )
            if len(reference.keys() & other.keys()) < ENOUGH:
                continue
            one = agreement(reference, other)
            all_.append(one)
            lines.append(
                f"| {name} | {task} | {one.separated} | {one.right} | {one.holm} | {one.holm_right} "
                f"| {one.tau:.2f} ({one.low:.2f} to {one.high:.2f}) "
                f"| {split_tau(reference):.2f} | {_said(run_sd(other))} | {seconds(folder, CHEAP[name][0], task):.0f} |"
            )
        if len(all_) > 1:
            pairs, right = sum(one.separated for one in all_), sum(one.right for one in all_)
            strict, strictly = sum(one.holm for one in all_), sum(one.holm_right for one in all_)
            lines.append(
                f"| {name} | all | {pairs} | {right} ({right / max(1, pairs):.0%}) "
                f"| {strict} | {strictly} ({strictly / max(1, strict):.0%}) | | | | |"
            )
    return lines


def _said(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"


def figures(found: Mapping[tuple[str, str], Scores]) -> dict[str, Scores]:
    """What the picture shows, as JSON has it."""
    return {" ".join(key): scores for key, scores in found.items()}


def picture(found: Mapping[tuple[str, str], Scores], path: Path) -> None:
    """A panel a dataset that orders encoders: their means under each protocol, in the order of the reference."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    there = [
        task
        for task in sorted({task for protocol, task in found if protocol == REFERENCE})
        if any(
            len(found[REFERENCE, task].keys() & cheap(found, name, task).keys()) >= ENOUGH
            for name in CHEAP
        )
    ]
    figure, places = plt.subplots(
        1, len(there), figsize=(4.6 * len(there), 4.2), layout="constrained", squeeze=False
    )
    for place, task in zip(places[0], there, strict=True):
        reference = found[REFERENCE, task]
        order = sorted(reference, key=lambda model: -statistics.fmean(reference[model]))
        place.plot(
            order,
            [statistics.fmean(reference[model]) for model in order],
            "-",
            color="black",
            linewidth=1,
            label=f"{REFERENCE} (reference)",
        )
        for name, mark, colour in zip(
            CHEAP, "os^D", ("#1b4965", "#2a9d8f", "#e9a23b", "#9b9b9b"), strict=True
        ):
            other = cheap(found, name, task)
            models = [model for model in order if model in other]
            place.plot(
                models,
                [statistics.fmean(other[model]) for model in models],
                mark,
                color=colour,
                label=f"{name}, the first seed" if name == "quick" else name,
                markersize=6,
                alpha=0.85,
            )
        place.set_title(tasks.get(task).title, fontsize=11)
        place.set_xlabel("encoder, best under the reference first")
        place.spines[["top", "right"]].set_visible(False)
        place.grid(alpha=0.3)
    places[0][0].set_ylabel("test score, mean of the seeds")
    places[0][-1].legend(fontsize=8, frameon=False, loc="lower left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata=stamp(figures(found)))
    plt.close(figure)


def main() -> None:
    found = scores(RESULTS)
    for task in sorted({task for _, task in found}):
        print("\n".join([*table_of_scores(found, task), ""]))
    print("\n".join(table_of_agreement(found, RESULTS)))
    picture(found, RESULTS / "agreement.png")


if __name__ == "__main__":
    main()
