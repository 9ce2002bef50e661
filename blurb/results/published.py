"""Published rows, shipped as `published.csv`: numbers without predictions, identified by source and version.

`published_ablations.csv` has the variants of PubMedBERT that Gu et al. print beside their models; no ranking has them.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from blurb.messages import FIRST, DataError, ErrorCollector, opt
from blurb.results import schema
from blurb.results.row import Published
from blurb.results.score import DATASETS, DatasetScores
from blurb.store.trial import Configuration
from blurb.system import leases
from blurb.system.files import write_whole
from blurb.table_files import FileLine, Table, head_of, table_of

COLUMNS = ("source", "version", "model", "dataset", "score", "runs", "certainty")
PAPER = ("gu2021", "ACM Health 2021, Table 6")
"""Source and version of "best of the paper's Table 6", which ignores all other rows."""
PRINTED = "printed"
DOUBTS = {
    PRINTED: "",
    "quoted": "quoted from another publication",
    "recalled": "some numbers are from memory, not read in the publication",
}
"""How a number is known, the most reliable first, and the remark for a row with such a number (docs/csv.md)."""
NOTES = {
    ("gu2021", "PubMedBERT"): "linkbert2022 prints JNLPBA 80.06 and GAD 82.34 for this model",
    ("gu2021", "PubMedBERT-fulltext"): "column '+PMC, longer', most likely the released weights",
    ("linkbert2022", "PubMedBERT"): "JNLPBA and GAD as printed here; gu2021 prints 79.10 and 83.96",
}
"""Remarks on shipped rows, by source and model."""
ABLATIONS = {
    "PubMedBERT general-vocabulary word-piece": "vocabulary of Wikipedia and books, masking of word pieces",
    "PubMedBERT general-vocabulary whole-word": "vocabulary of Wikipedia and books, masking of whole words",
    "PubMedBERT word-piece": "masking of word pieces",
    "PubMedBERT mixed-domain": "pretrained on Wikipedia and books, then on PubMed, with PubMed's vocabulary",
    "PubMedBERT half-time": "pretrained for half of the time",
    "PubMedBERT PubMed+PMC": "abstracts and full texts, not longer",
    "PubMedBERT adversarial": "adversarial pretraining",
}
"""Differences of the variants that the paper prints; the names are ours."""


@dataclass
class Printed:
    """The numbers of one model in one publication.

    :param scores: dataset -> printed score, times 100
    :param runs: dataset -> number of runs behind its mean
    :param total: the printed score, None if there is none
    :param certainty: a key of `DOUBTS`, of its least reliable number
    """

    source: str
    version: str
    model: str
    scores: dict[str, float] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    total: float | None = None
    certainty: str = PRINTED

    @property
    def row(self) -> Published:
        """The numbers as a row."""
        ablation = ABLATIONS.get(self.model, "") if self.source == PAPER[0] else ""
        remarks = (
            DOUBTS[self.certainty],
            NOTES.get((self.source, self.model), ""),
            ablation and f"ablation: {ablation}",
        )
        return Published(
            self.model,
            Configuration("", "", {}, "", "blurb"),
            {
                name: DatasetScores(name, means={"test": score}, count=self.runs.get(name, 0))
                for name, score in self.scores.items()
            },
            source=self.source,
            version=self.version,
            printed=self.total,
            remarks=tuple(filter(None, remarks)),
            certainty=self.certainty,
        )


def read(path: Path, errors: ErrorCollector = FIRST) -> list[Published]:
    """Rows of a file in the format of `published.csv`; DataError (file, line) if it has another format."""
    if head_of(path)[0] != COLUMNS:
        errors.add(DataError(f"expected the columns {', '.join(COLUMNS)}.", path, 1))
        return []
    return _rows_of_table(table_of(path, errors, short=True), errors)


@cache
def shipped() -> tuple[Published, ...]:
    """The rows that come with blurb."""
    return _read_shipped("published.csv")


@cache
def ablations() -> tuple[Published, ...]:
    """The variants of PubMedBERT that the paper prints (`ABLATIONS`), which are in no ranking."""
    return _read_shipped("published_ablations.csv")


def _read_shipped(name: str) -> tuple[Published, ...]:
    return tuple(
        _rows_of_table(
            table_of(Path(name), text=Path(__file__).with_name(name).read_text(encoding="utf-8")),
            FIRST,
        )
    )


def best_of_paper() -> dict[str, tuple[float, str]]:
    """The best score of each dataset in the paper's Table 6, and its model."""
    best: dict[str, tuple[float, str]] = {}
    for row in shipped():
        if (row.source, row.version) == PAPER:
            for dataset, score in row.means().items():
                best[dataset] = max(best.get(dataset, (0.0, "")), (score, row.model))
    return best


def _rows_of_table(table: Table, errors: ErrorCollector) -> list[Published]:
    rows: dict[tuple[str, ...], Printed] = {}
    seen: dict[tuple[str, ...], FileLine] = {}
    for at, line in table.rows:
        with errors:
            for column in ("source", "model"):
                if not line[column].strip():
                    raise at.error(
                        f"{column} is empty; a row without it would pass for one of a store."
                    )
            key = line["source"], line["version"], line["model"]
            if (first := seen.setdefault((*key, line["dataset"]), at)) is not at:
                raise at.error(f"the same model and dataset as line {first.number}.")
            score = schema.score(line["score"], "score", at)
            runs = schema.number(line["runs"] or "0", "runs", at)
            if not runs.is_integer() or runs < 0:
                raise at.error(f"runs must be a whole number (got {line['runs'][:20]!r}).")
            if line["dataset"] not in (*DATASETS, "score"):
                raise at.error(f"unknown dataset {line['dataset']!r}", "see blurb tasks.")
            row = rows.setdefault(key, Printed(*key))
            certainty = line["certainty"] if line["certainty"] in DOUBTS else "recalled"
            row.certainty = max(row.certainty, certainty, key=list(DOUBTS).index)
            if line["dataset"] == "score":
                row.total = score
            else:
                row.scores[line["dataset"]], row.runs[line["dataset"]] = score, int(runs)
    return [each.row for each in rows.values()]


def add(path: Path, numbers: Printed) -> None:
    """Adds numbers to a file in the format of `published.csv`, which is created if necessary.

    :raises DataError: if the file already has one of these numbers
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    key = numbers.source, numbers.version, numbers.model
    with leases.held(path.with_name(f".{path.name}.lease")):
        if path.exists() and any((row.source, row.version, row.model) == key for row in read(path)):
            raise DataError(
                f"already has {numbers.model} of {numbers.row.edition}.",
                path,
                fix=f"Use another {opt('version')}, or remove its lines from the file first.",
            )
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if path.exists():
            before = path.read_text(encoding="utf-8")
            text.write(before if before.endswith("\n") else f"{before}\n")
        else:
            writer.writerow(COLUMNS)
        for dataset, score in numbers.scores.items():
            writer.writerow(
                [*key, dataset, f"{score:g}", numbers.runs.get(dataset, ""), numbers.certainty]
            )
        if numbers.total is not None:
            writer.writerow([*key, "score", f"{numbers.total:g}", "", numbers.certainty])
        write_whole(path, text.getvalue().encode())
