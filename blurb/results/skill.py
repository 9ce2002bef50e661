"""How far a score is on the way from the best constant answer to the best published figure, in per cent.

A score says little by itself: PubMedQA at 55 and GAD at 69 are what one answer for all examples gets. `skill.csv` has
both ends for each dataset, on the real test sets: the floor is the best constant answer (`baseline:constant`), the
ceiling the best figure among the published rows at the time. They are figures of this project, not of the benchmark,
and carry a version, as a ceiling will be raised. BioASQ has none, as its data needs a registration.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

VERSION = 1


@cache
def ends() -> dict[str, tuple[float, float]]:
    """Dataset -> floor and ceiling."""
    text = (files("blurb.results") / "skill.csv").read_text(encoding="utf-8")
    return {
        line["task"]: (float(line["floor"]), float(line["ceiling"]))
        for line in csv.DictReader(text.splitlines())
        if line["version"] == str(VERSION)
    }


def skill(dataset: str, score: float) -> float | None:
    """Per cent of the way; below 0 under the floor, above 100 over the ceiling. None for a dataset without ends.

    >>> skill("pubmedqa", 55.2), skill("pubmedqa", 75.4), skill("my-task", 50.0)
    (0.0, 100.0, None)
    """
    if dataset not in ends():
        return None
    floor, ceiling = ends()[dataset]
    return 100 * (score - floor) / (ceiling - floor)
