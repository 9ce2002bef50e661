"""How far a score is on the way from a baseline without an encoder to the best published figure, in per cent.

A score says little by itself: PubMedQA at 55 and GAD at 69 are what one answer for all examples gets, HoC at 77 is what
a count of words gets. `skill.csv` has both ends for each dataset, on the real test sets: the floor is the better of the
best constant answer (`baseline:constant`) and `baseline:bigrams`, the ceiling the best figure among the published rows
at the time. Of EBM PICO the floor is of bigrams trained on the substitute train set (1,364 documents instead of 3,842),
whatever the row beside it was trained on. They are figures of this project, not of the benchmark, and carry a version,
as an end may be raised (version 1 had the constant answers alone). BioASQ has none, as its data needs a registration.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

VERSION = 2


@cache
def bounds() -> dict[str, tuple[float, float]]:
    """Dataset -> floor and ceiling."""
    text = (files("blurb.results") / "skill.csv").read_text(encoding="utf-8")
    return {
        line["task"]: (float(line["floor"]), float(line["ceiling"]))
        for line in csv.DictReader(text.splitlines())
        if line["version"] == str(VERSION)
    }


def skill(dataset: str, score: float) -> float | None:
    """Per cent of the way; below 0 under the floor, above 100 over the ceiling. None for a dataset without ends.

    >>> skill("pubmedqa", 56.2), skill("pubmedqa", 75.4), skill("my-task", 50.0)
    (0.0, 100.0, None)
    """
    if dataset not in bounds():
        return None
    floor, ceiling = bounds()[dataset]
    return 100 * (score - floor) / (ceiling - floor)
