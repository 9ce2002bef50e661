"""The figures of a run of a row, computed from its predictions and the verifier's own data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from blurb import formulations, tasks
from blurb.formulations._base import Formulation
from blurb.learners.base import Subset
from blurb.protocols.settings import limits
from blurb.row_files.reading import Row, losses_of_run, of_run
from blurb.row_files.writing import ENDING, RunFile
from blurb.scoring import gold, matching, values
from blurb.scoring.answers import Answer, AnswerFile
from blurb.scoring.values import Reading
from blurb.tasks import Scored


def figures_of(row: Row, run: RunFile, split: Scored, data: Path, without: Collection[str] = ()) -> dict[str, float]:
    """The figures of a run on a split, from its predictions; fractions.

    :param without: ids of examples that are left out
    :raises DataError: if its predictions are not those of the examples, or are no answers
    """
    formulation, kept, given = _answered(row, run, split, data)
    losses = losses_of_run(row, run, split)
    left = [place for place, (unit, _) in enumerate(kept) if unit["id"] not in without]
    known = [losses[kept[place][1]] for place in left] if losses else None
    return _figures(formulation, [kept[place][0] for place in left], [given[place] for place in left], known)


def examples_of(row: Row, run: RunFile, split: Scored, data: Path) -> tuple[Formulation, dict[str, list[Any]]]:
    """The examples of a run on a split: `id`, `doc_id`, `gold` and `prediction`, in the order of the data.

    :raises DataError: if its predictions are not those of the examples, or are no answers
    """
    formulation, kept, given = _answered(row, run, split, data)
    units = [unit for unit, _ in kept]
    columns = {name: [unit.get(name) for unit in units] for name in ("id", "doc_id")}
    return formulation, {**columns, "gold": [formulation.gold(dict(unit)) for unit in units], "prediction": given}


def _answered(
    row: Row, run: RunFile, split: Scored, data: Path
) -> tuple[Formulation, list[tuple[Mapping[str, Any], int]], list[Any]]:
    """The formulation, the scored units with the place of the answer of each, and these answers."""
    formulation = formulations.bind(tasks.get(run["task"]), run["settings"])
    units = gold.units(formulation, data, split)
    answers = [Answer(place, key, value) for place, (key, value) in enumerate(of_run(row, run, split), 1)]
    file = values.shaped(formulation.task, AnswerFile(row.folder / f"{run['task']}{ENDING}", answers))
    # A row on a part of the examples is on the part that its settings draw, never on the best one.
    units = list(Subset.draw(units, "", *limits(formulation.settings, split, run["seed"]), split).used)
    places, _ = matching.match(file, units, split)
    given = values.read(formulation.task, file, Reading("bio", any_scale=True))
    return formulation, list(zip(units, places, strict=True)), [given[place] for place in places]


def _figures(
    formulation: Formulation, units: Sequence[Mapping[str, Any]], answers: Sequence[Any], losses: Sequence[float] | None
) -> dict[str, float]:
    right = [formulation.gold(dict(unit)) for unit in units]
    figures = formulation.score(right, answers, [unit.get("doc_id") for unit in units])
    return figures if losses is None else {**figures, formulation.loss: formulation.mean_loss(right, losses)}
