"""The parts of a study on disk: for each pretraining its rows as files, by protocol, and how far it came; no weights.

    parts/<variant>-<seed>/pretraining.json
    parts/<variant>-<seed>/<protocol>/row.json, MANIFEST.json, <dataset>.parquet

They are small and have no text, so they can be committed; a study goes on from them alone.

A pretraining is the unit of a comparison: a variant is a row whose runs are its pretrainings. Two pretrainings of one
recipe differ by chance, and more than two fine-tunings of one checkpoint do (Sellam et al. 2022, MultiBERTs). So a
difference of two variants is looked at beside the variation of pretrainings, each fine-tuned once; runs and test
examples are crossed, as in their Multi-Bootstrap, where predictions are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from blurb.extensions.lab.pretraining import request
from blurb.extensions.lab.pretraining.recipe import (
    ABOUT as PRETRAINING,
    PLAN,
    VERSION,
    Recipe,
    version_of,
)
from blurb.extensions.lab.study.spec import Study, Variant
from blurb.messages import DataError, opt
from blurb.results.row import Row
from blurb.results.score import DatasetScores
from blurb.row_files.reading import RowFiles, read_row_files
from blurb.row_files.scores import claimed_scores
from blurb.row_files.writing import ABOUT
from blurb.system.files import read_json, text_hash

PARTS, WORK = "parts", "work"
SCORING = "seconds of scoring"
"""Key of `pretraining.json`: protocol -> seconds, of the protocols that were scored in one go with the pretraining."""


def place(out: Path, variant: Variant, seed: int) -> Path:
    """The folder of a pretraining."""
    return out / PARTS / f"{variant.name}-{seed}"


def floor_place(out: Path, study: Study, floor: str) -> Path:
    """The folder of the row of a baseline."""
    return out / PARTS / floor.replace(":", "-") / study.protocols[0]


def floors(out: Path, study: Study) -> dict[str, Row]:
    """Baseline -> its row, of those that are there."""
    return {
        floor: claimed_scores(read_row_files(floor_place(out, study, floor)))
        for floor in study.floors
        if (floor_place(out, study, floor) / ABOUT).is_file()
    }


def start_study(study: Study, out: Path) -> Study:
    """A study with the version of the recipe that its parts began with, those that a kill left unfinished included.

    :raises DataError: if they began with two
    """
    files = [*(out / PARTS).glob(f"*/{PRETRAINING}"), *(out / WORK).glob(f"*/*/{PLAN}")]
    versions = sorted({version_of(read_json(file)) for file in files}) or [VERSION]
    if len(versions) > 1:
        raise DataError(
            f"its parts were made with versions {' and '.join(map(str, versions))} of pretraining.",
            out,
            fix="move those of one version away.",
        )
    return replace(
        study,
        variants=[
            replace(each, recipe=replace(each.recipe, version=versions[0]))
            for each in study.variants
        ],
    )


def is_done(out: Path, study: Study, variant: Variant, seed: int) -> bool:
    """Whether a pretraining has been scored by every protocol.

    :raises DataError: if the part is of another recipe or text than the study has now
    """
    folder = place(out, variant, seed)
    check(out, variant, seed)
    return (folder / PRETRAINING).is_file() and all(
        has_row(folder / each, study) for each in study.protocols
    )


def check(out: Path, variant: Variant, seed: int) -> None:
    """Raises a DataError if a part is of another recipe or text than the study has now."""
    file = place(out, variant, seed) / PRETRAINING
    if not file.is_file():
        return
    made, wanted = read_json(file), variant.run(seed)
    recipe = {**asdict(Recipe()), "version": version_of(made), **made.get("recipe", {})}
    differs = [name for name, value in asdict(wanted).items() if recipe[name] != value]
    if made.get("text", {}).get("source") != request.source(variant.text, variant.mix):
        differs.append("text")
    if differs:
        raise DataError(
            f"was made with another {differs[0]}.",
            file.parent,
            fix="move it away, or mend the study.",
        )


def check_text(out: Path, study: Study, variant: Variant, digest: str) -> None:
    """Raises a DataError if other parts of the same texts were made with other contents of these.

    :param digest: hash of the documents that the next pretraining would read (`Corpus.hash`)
    """
    alike = [
        each for each in study.variants if (each.text, each.mix) == (variant.text, variant.mix)
    ]
    if any(
        each["text"]["sha256"] != digest
        for known in facts(out, replace(study, variants=alike)).values()
        for each in known
    ):
        raise DataError(
            f"{request.source(variant.text, variant.mix)} has other documents now than when the parts were made.",
            out,
            fix=f"give the {opt('data')} and {opt('raw')} of then, or start another study.",
        )


def has_row(folder: Path, study: Study) -> bool:
    """Whether a row has all datasets of the study; one dataset more makes it anew."""
    if not (folder / ABOUT).is_file():
        return False
    return {task.name for task in study.tasks} <= {
        run["task"] for run in read_row_files(folder).about["runs"]
    }


def precision(out: Path, study: Study) -> str:
    """The precision of the parts that are there; `auto` before there are any, which decides for all that follow."""
    present = (row for protocol in study.protocols for *_, row in filed_rows(out, study, protocol))
    return next((str(row.about["precision"]) for row in present), "auto")


def filed_rows(out: Path, study: Study, protocol: str) -> Iterator[tuple[Variant, int, RowFiles]]:
    """Variant, seed and row of each pretraining that is scored by a protocol; a DataError for one of another study."""
    for variant, seed in study.pretrainings:
        folder = place(out, variant, seed) / protocol
        if (folder / ABOUT).is_file():
            check(out, variant, seed)
            yield variant, seed, read_row_files(folder)


def rows(out: Path, study: Study, protocol: str) -> dict[str, Row]:
    """Variant -> its row, whose runs are the pretrainings that are there.

    :raises DataError: for parts of another study, or that were scored on other data or with other settings
    """
    for name, known in facts(out, study).items():
        for key in ("vocabulary", "start"):
            if len({each[key] for each in known if key in each}) > 1:
                raise DataError(
                    f"the parts of {name} began with different contents of {key}.", out / PARTS
                )
        if len({each["text"]["sha256"] for each in known}) > 1:
            raise DataError(f"the parts of {name} were made from different documents.", out / PARTS)
    by_variant: dict[str, dict[int, Row]] = {}
    scored: dict[str, tuple[Any, str, str]] = {}
    for variant, seed, row in filed_rows(out, study, protocol):
        for run in row.about["runs"]:
            made = (run["settings"], run["data"], row.about["precision"])
            if scored.setdefault(run["task"], made) != made:
                raise DataError(
                    f"{run['task']} was scored on other data, with other settings or in another precision than in "
                    "other parts.",
                    place(out, variant, seed) / protocol,
                    fix="move it away, and run the study again.",
                )
        by_variant.setdefault(variant.name, {})[seed] = claimed_scores(row)
    return {name: variant_row(name, own) for name, own in by_variant.items()}


def facts(out: Path, study: Study) -> Mapping[str, list[Mapping[str, Any]]]:
    """Variant -> what is known of each of its pretrainings (`pretraining.json`)."""
    return {
        variant.name: [
            read_json(file)
            for seed in range(1, study.runs + 1)
            if (file := place(out, variant, seed) / PRETRAINING).is_file()
        ]
        for variant in study.variants
    }


def variant_row(name: str, rows: Mapping[int, Row]) -> Row:
    """The row of a variant.

    :param rows: seed of the pretraining -> row of its encoder, with one run of each dataset
    :raises DataError: if these are rows of different configurations, or a dataset has several runs
    """
    ordered = [rows[seed] for seed in sorted(rows)]
    first = ordered[0]
    scored = [
        {**row.configuration.identity, "learner": row.learner, "recipe": row.recipe}
        for row in ordered
    ]
    for row, how in zip(ordered, scored, strict=True):
        if differs := [
            f"{key} {value} and {scored[0][key]}"
            for key, value in how.items()
            if value != scored[0][key]
        ]:
            raise DataError(
                f"{name}: {row.name} is of another configuration than {first.name} ({', '.join(differs)})",
                fix="move one of the two parts away, and run the study again.",
            )
    datasets: dict[str, DatasetScores] = {}
    for task in dict.fromkeys(task for row in ordered for task in row.datasets):
        own = {
            seed: rows[seed].datasets[task] for seed in sorted(rows) if task in rows[seed].datasets
        }
        for seed, scores in own.items():
            if len(scores.runs) > 1:
                raise DataError(
                    f"{name}: {rows[seed].name} has {len(scores.runs)} runs of {task}; a pretraining is fine-tuned "
                    "once."
                )
        datasets[task] = replace(
            next(iter(own.values())),
            runs={seed: run for seed, scores in own.items() for run in scores.runs.values()},
            planned=len(rows),
            planned_seeds=(),
        )
    weights = text_hash(" ".join(row.weights for row in ordered))
    return replace(first, model=name, weights=weights, key="", datasets=datasets, label="")
