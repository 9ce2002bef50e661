"""The BLURB score: the mean of six task-type means (not of thirteen datasets).

How far a score is on the way from a baseline without an encoder to the best published figure, in per cent.

A score says little by itself: PubMedQA at 55 and GAD at 69 are what one answer for all examples gets, HoC at 77 is what
a count of words gets. `skill.csv` has both ends for each dataset, on the real test sets: the floor is the better of the
best constant answer (`baseline:constant`) and `baseline:bigrams`, the ceiling the best figure among the published rows
at the time. Of EBM PICO the floor is of bigrams trained on the substitute train set (1,364 documents instead of 3,842),
whatever the row beside it was trained on. They are figures of this project, not of the benchmark, and carry a version,
as an end may be raised (version 1 had the constant answers alone). BioASQ has none, as its data needs a registration.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from blurb import tasks
from blurb.messages import UnknownName
from blurb.tasks import TYPES, UNREGISTERED, Task

SCORE = "score"
"""Its name among those of datasets."""


@cache
def datasets_by_type() -> Mapping[str, list[Task]]:
    """The thirteen datasets by task type, both in the paper's order."""
    return {
        kind: [task for task in tasks.all() if task.type == kind and task.paper_order]
        for kind in TYPES
    }


def type_means(scores: Mapping[str, float]) -> dict[str, float]:
    """Mean of each complete task type.

    :param scores: dataset -> score, on any scale
    :raises UnknownName: if a key is not one of the thirteen
    """
    groups = datasets_by_type()
    known = [task.name for group in groups.values() for task in group]
    for name in scores:
        if name not in known:
            raise UnknownName("dataset of BLURB", name, known)
    whole = {
        kind: group for kind, group in groups.items() if all(task.name in scores for task in group)
    }
    return {
        kind: sum(scores[task.name] for task in group) / len(group) for kind, group in whole.items()
    }


def blurb_score(scores: Mapping[str, float]) -> float | None:
    """The score from the thirteen datasets' scores; None if any is missing (Gu et al., Table 6).

    It reproduces the printed scores of all nine models of that table; a mean over datasets would be about one point
    higher.
    """
    means = type_means(scores)
    return sum(means.values()) / len(TYPES) if len(means) == len(TYPES) else None


def blurb_12(scores: Mapping[str, float]) -> float | None:
    """The mean of the task-type means without BioASQ, so that QA is PubMedQA alone; None if another dataset is missing.

    For those without a registration for BioASQ. It is not the BLURB score, and not comparable with it.
    """
    shares = weights_of_12()
    if any(name not in scores for name in shares):
        return None
    return sum(share * scores[name] for name, share in shares.items())


@cache
def type_weights() -> Mapping[str, dict[str, float]]:
    """Task type -> weight of each of its datasets in the mean of the type."""
    return {
        kind: {task.name: 1 / len(group) for task in group}
        for kind, group in datasets_by_type().items()
    }


@cache
def dataset_weights() -> Mapping[str, float]:
    """The weight of each dataset in the score; the weights sum to 1."""
    return {
        task.name: 1 / len(TYPES) / len(group)
        for group in datasets_by_type().values()
        for task in group
    }


def shares_of(names: Iterable[str]) -> dict[str, float]:
    """The weights of some datasets as in the score, with the sum 1; equal ones if none of them is of BLURB.

    >>> shares_of(["hoc", "gad", "my-task"]), shares_of(["my-task"])
    ({'hoc': 0.75, 'gad': 0.25}, {'my-task': 1.0})
    """
    there, weights = list(names), dataset_weights()
    known = {name: weights[name] for name in there if name in weights} or dict.fromkeys(there, 1.0)
    total = sum(known.values())
    return {name: weight / total for name, weight in known.items()}


@cache
def weights_of_12() -> Mapping[str, float]:
    """The weight of each of the twelve datasets in `blurb_12`."""
    groups = {
        kind: [name for name in names if name != UNREGISTERED]
        for kind, names in type_weights().items()
    }
    return {name: 1 / len(TYPES) / len(names) for names in groups.values() for name in names}


class Spread(NamedTuple):
    """How far the score varies over seeds.

    :param deviation: standard deviation of the score
    :param error: standard error of its mean
    :param degrees_of_freedom: of that error, by Satterthwaite; None if no seed differs from another
    """

    deviation: float
    error: float
    degrees_of_freedom: float | None


def score_spread(deviations: Mapping[str, tuple[float, int]]) -> Spread | None:
    """How far the score varies over seeds.

    :param deviations: dataset -> (sd over seeds, number of seeds); runs of different datasets are independent
    :returns: None unless all thirteen have at least two seeds
    """
    shares = dataset_weights()
    if any(name not in deviations or deviations[name][1] < 2 for name in shares):
        return None
    known = [(share, *deviations[name]) for name, share in shares.items()]
    variance = sum((share * sd) ** 2 for share, sd, _ in known)
    parts = [((share * sd) ** 2 / seeds, seeds) for share, sd, seeds in known]
    error = sum(part for part, _ in parts)
    certainty = sum(part**2 / (seeds - 1) for part, seeds in parts)
    return Spread(
        math.sqrt(variance), math.sqrt(error), error**2 / certainty if certainty else None
    )


VERSION = 2


@cache
def bounds() -> dict[str, tuple[float, float]]:
    """Dataset -> floor and ceiling."""
    return {
        line["task"]: (float(line["floor"]), float(line["ceiling"]))
        for line in csv.DictReader(
            (files("blurb.results") / "skill.csv").read_text(encoding="utf-8").splitlines()
        )
        if line["version"] == str(VERSION)
    }


def skill_percent(dataset: str, score: float) -> float | None:
    """Per cent of the way; below 0 under the floor, above 100 over the ceiling. None for a dataset without ends.

    >>> skill("pubmedqa", 56.2), skill("pubmedqa", 75.4), skill("my-task", 50.0)
    (0.0, 100.0, None)
    """
    if dataset not in bounds():
        return None
    floor, ceiling = bounds()[dataset]
    return 100 * (score - floor) / (ceiling - floor)
