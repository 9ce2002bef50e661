"""The parts of a study on disk: for each pretraining its rows as files, by protocol, and how far it came; no weights.

    parts/<variant>-<seed>/pretraining.json
    parts/<variant>-<seed>/<protocol>/row.json, MANIFEST.json, <dataset>.parquet

They are small and have no text, so they can be committed; a study goes on from them alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from blurb.extensions.lab.pretraining import request
from blurb.extensions.lab.pretraining.pretrain import ABOUT as PRETRAINING
from blurb.extensions.lab.pretraining.pretrain import PLAN, version_of
from blurb.extensions.lab.pretraining.recipe import VERSION, Recipe
from blurb.extensions.lab.study.spec import Study, Variant
from blurb.extensions.lab.study.units import variant_row
from blurb.messages.errors import DataError
from blurb.messages.spelling import opt
from blurb.results.row import Row
from blurb.row_files.reading import read
from blurb.row_files.scores import scores
from blurb.row_files.writing import ABOUT
from blurb.system.files import read_json

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
    places = {floor: floor_place(out, study, floor) for floor in study.floors}
    return {floor: scores(read(place)) for floor, place in places.items() if (place / ABOUT).is_file()}


def begun(study: Study, out: Path) -> Study:
    """A study with the version of the recipe that its parts began with, those that a kill left unfinished included.

    :raises DataError: if they began with two
    """
    files = [*(out / PARTS).glob(f"*/{PRETRAINING}"), *(out / WORK).glob(f"*/*/{PLAN}")]
    versions = {version_of(read_json(file)) for file in files}
    if len(versions) > 1:
        why = f"its parts were made with versions {' and '.join(map(str, sorted(versions)))} of pretraining."
        raise DataError(why, out, fix="move those of one version away.")
    version = versions.pop() if versions else VERSION
    variants = [replace(each, recipe=replace(each.recipe, version=version)) for each in study.variants]
    return replace(study, variants=variants)


def is_done(out: Path, study: Study, variant: Variant, seed: int) -> bool:
    """Whether a pretraining has been scored by every protocol.

    :raises DataError: if the part is of another recipe or text than the study has now
    """
    folder = place(out, variant, seed)
    if not (folder / PRETRAINING).is_file():
        return False
    check(out, study, variant, seed)
    return all(has_row(folder / protocol, study) for protocol in study.protocols)


def check(out: Path, study: Study, variant: Variant, seed: int) -> None:
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
        raise DataError(f"was made with another {differs[0]}.", file.parent, fix="move it away, or mend the study.")


def check_text(out: Path, study: Study, variant: Variant, digest: str) -> None:
    """Raises a DataError if other parts of the same texts were made with other contents of these.

    :param digest: hash of the documents that the next pretraining would read (`Corpus.hash`)
    """
    alike = [each.name for each in study.variants if (each.text, each.mix) == (variant.text, variant.mix)]
    there = facts(out, study)
    if any(known["text"]["sha256"] != digest for name in alike for known in there.get(name, ())):
        source = request.source(variant.text, variant.mix)
        why = f"{source} has other documents now than when the parts were made."
        raise DataError(why, out, fix=f"give the {opt('data')} and {opt('raw')} of then, or start another study.")


def _check_alike(out: Path, study: Study) -> None:
    """Raises a DataError for parts of a variant that began with another text, vocabulary or checkpoint."""
    for name, own in facts(out, study).items():
        for key in ("vocabulary", "start"):
            if len({each[key] for each in own if key in each}) > 1:
                raise DataError(f"the parts of {name} began with different contents of {key}.", out / PARTS)
        if len({each["text"]["sha256"] for each in own}) > 1:
            raise DataError(f"the parts of {name} were made from different documents.", out / PARTS)


def has_row(folder: Path, study: Study) -> bool:
    """Whether a row has all datasets of the study; one dataset more makes it anew."""
    if not (folder / ABOUT).is_file():
        return False
    return {task.name for task in study.tasks} <= {run["task"] for run in read(folder).about["runs"]}


def precision(out: Path, study: Study) -> str:
    """The precision of the parts that are there; `auto` before there are any, which decides for all that follow."""
    for variant in study.variants:
        for seed in range(1, study.runs + 1):
            for protocol in study.protocols:
                folder = place(out, variant, seed) / protocol
                if (folder / ABOUT).is_file():
                    return str(read(folder).about["precision"])
    return "auto"


def rows(out: Path, study: Study, protocol: str) -> dict[str, Row]:
    """Variant -> its row, whose runs are the pretrainings that are there.

    :raises DataError: for parts of another study, or that were scored on other data or with other settings
    """
    _check_alike(out, study)
    there: dict[str, Row] = {}
    scored: dict[str, tuple[Any, str, str]] = {}
    for variant in study.variants:
        own = {}
        for seed in range(1, study.runs + 1):
            folder = place(out, variant, seed) / protocol
            if (folder / ABOUT).is_file():
                check(out, study, variant, seed)
                row = read(folder)
                for run in row.about["runs"]:
                    made = (run["settings"], run["data"], row.about["precision"])
                    if scored.setdefault(run["task"], made) != made:
                        how = "on other data, with other settings or in another precision"
                        why = f"{run['task']} was scored {how} than in other parts."
                        raise DataError(why, folder, fix="move it away, and run the study again.")
                own[seed] = scores(row)
        if own:
            there[variant.name] = variant_row(variant.name, own)
    return there


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
