"""`blurb.study`: variants of a pretraining, each pretrained several times and scored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.messages.errors import DataError

Told = Callable[[str], None]

if TYPE_CHECKING:
    from blurb.lab.study.findings import Findings
    from blurb.lab.study.spec import Study
    from blurb.results.row_scores import RowScores


def study(
    file: Path | str,
    output: Path | str = "study",
    *,
    data: Path | str | None = None,
    raw: Path | str | None = None,
    suite: str = "blurb",
    run: bool = True,
    progress: bool = True,
    told: Told | None = None,
) -> Findings:
    """Makes the parts of a study that are missing, and returns what all parts show.

    :param file: TOML file of the study, or the name of one that is shipped
    :param output: folder of its parts, from which alone it goes on
    :param data: data folder, of whose dev and test sets no text is learnt; with its gold answers the sentences are on
        pretrainings and test examples, without it on pretrainings alone
    :param run: False makes no part, and reads those that are there
    :param told: called with a sentence for each part that is done
    :raises BlurbError: for a study that cannot be made, or parts of another one
    """
    from blurb.corpora import demo
    from blurb.lab.study import conduct, findings, spec

    wanted, folder = spec.read(file), Path(output)
    place = demo.prepare() if suite == "demo" else None if data is None else Path(data)
    if run:
        if place is None:
            raise DataError("A study needs the data folder", fix="add --data, or --suite demo to try it.")
        originals = None if raw is None else Path(raw)
        made = conduct.conduct(wanted, folder, place, _scorer(wanted, place, originals, suite), originals, progress)
        for variant, seed in made:
            if told is not None:
                told(f"{variant.name}, pretraining {seed}: done")
    return findings.read(folder, wanted, place)


def _scorer(
    wanted: Study, data: Path, raw: Path | None, suite: str
) -> Callable[[Path | str, str, str, Path], RowScores]:
    from blurb.api.keywords import run

    names = ",".join(task.name for task in wanted.tasks)

    def score(encoder: Path | str, name: str, protocol: str, store: Path) -> RowScores:
        place = {"suite": "demo"} if suite == "demo" else {"data": data, "raw": raw}
        results = run(encoder, names, name=name, protocol=protocol, output=store, progress=False, **place)
        if results.failed:
            raise DataError(f"{name} on {results.failed[0].job.trial.task}: {results.failed[0].message}", store)
        return results.rows[0]

    return score
