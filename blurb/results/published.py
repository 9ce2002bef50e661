"""Published rows, shipped as `published.csv`: numbers without predictions, keyed by source and version."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from blurb import tasks
from blurb.errors import DataError
from blurb.results import csv_files
from blurb.results.score import blurb_score

COLUMNS = ("source", "version", "model", "dataset", "score", "runs", "certainty")
PAPER = ("gu2021", "ACM Health 2021, Table 6")
"""Source and version that "best of the paper's Table 6" is taken from; other rows are not mixed into it."""
PRINTED = "printed"
DOUBTS = {
    PRINTED: "",
    "quoted": "second hand: quoted by another source",
    "recalled": "some numbers are recalled, not read in their source",
}
"""How a number is known, the surest first, and what has to be said of a row that has one; docs/csv.md."""
NOTES = {
    ("gu2021", "PubMedBERT"): "linkbert2022 prints JNLPBA 80.06 and GAD 82.34 for this model",
    ("gu2021", "PubMedBERT-fulltext"): "the column '+PMC, longer', which is most likely the released weights",
    ("linkbert2022", "PubMedBERT"): "JNLPBA and GAD as printed here; gu2021 prints 79.10 and 83.96",
}
"""What is to be known of a shipped row, by source and model."""


@dataclass
class PublishedRow:
    """One model of one source.

    :param scores: dataset -> printed score, times 100
    :param runs: dataset -> how many runs it is the mean of
    :param printed: the score as printed, None if the source prints none
    :param certainty: a key of `DOUBTS`, that of its least sure number
    """

    source: str
    version: str
    model: str
    scores: dict[str, float] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    printed: float | None = None
    certainty: str = PRINTED

    @property
    def edition(self) -> str:
        """The source, and which edition of it."""
        return f"{self.source} ({self.version})" if self.version else self.source

    @property
    def certain(self) -> bool:
        """Every number was read in its source."""
        return self.certainty == PRINTED

    @property
    def total(self) -> float | None:
        """The score that every table shows: the printed one, else that of the thirteen datasets if they are there."""
        return blurb_score(self.scores) if self.printed is None else self.printed

    @property
    def notes(self) -> list[str]:
        """What a table has to say below it of this row."""
        return [note for note in (DOUBTS[self.certainty], NOTES.get((self.source, self.model), "")) if note]


def read(path: Path) -> list[PublishedRow]:
    """Rows of a file in the format of `published.csv`; DataError (file, line) if it is another one."""
    return _rows(*csv_files.read(path), path)


def shipped() -> list[PublishedRow]:
    """The rows that come with blurb."""
    path = Path("published.csv")
    text = (files("blurb.results") / path.name).read_text(encoding="utf-8")
    return _rows(*csv_files.parse(text, path), path)


def best_of_paper() -> dict[str, tuple[float, str]]:
    """The best score of each dataset in the paper's Table 6, and the model that has it."""
    best: dict[str, tuple[float, str]] = {}
    for row in shipped():
        if (row.source, row.version) == PAPER:
            for dataset, score in row.scores.items():
                best[dataset] = max(best.get(dataset, (0.0, "")), (score, row.model))
    return best


def _rows(columns: Sequence[str], lines: Sequence[Mapping[str, str]], path: Path) -> list[PublishedRow]:
    if columns != COLUMNS:
        raise DataError(f"expected the columns {', '.join(COLUMNS)}.", path, 1)
    datasets = {task.name for task in tasks.all() if task.row}
    rows: dict[tuple[str, str, str], PublishedRow] = {}
    for number, line in enumerate(lines, 2):
        key = line["source"], line["version"], line["model"]
        row = rows.setdefault(key, PublishedRow(*key))
        try:
            score, runs = float(line["score"]), int(line["runs"] or 0)
        except (ValueError, TypeError):
            score, runs = math.nan, 0
        if not math.isfinite(score):
            raise DataError("score and runs must be numbers.", path, number)
        certainty = line["certainty"] if line["certainty"] in DOUBTS else "recalled"
        row.certainty = max(row.certainty, certainty, key=list(DOUBTS).index)
        if line["dataset"] == "score":
            row.printed = score
        elif line["dataset"] in datasets:
            row.scores[line["dataset"]] = score
            row.runs[line["dataset"]] = runs
        else:
            raise DataError(f"unknown dataset {line['dataset']!r}.", path, number)
    return list(rows.values())
