"""Decision accuracy of the cheap protocols on the lab's encoders: families beside the one made from MiniLM.

    python -m benchmarks.study.lab

Two families stand in docs/results/lab: checkpoints of two pretrainings (`series/results.csv`), whose runs are
fine-tunings, and the variants of a study, whose runs are pretrainings. The reference is `quick` on test. Asked for the
same order are `sketch` and `probe` by their scores, and `quick` and `sketch` by the loss of their heads on dev: a share
of the pairs that the reference tells apart, as the field counts decision accuracy (DataDecide, arXiv 2504.11393).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.study import RESULTS
from benchmarks.study.agreement import Agreement, Scores, agreement
from blurb.extensions.lab.study import parts, spec
from blurb.extensions.series.curves import losses
from blurb.leaderboard import ranking
from blurb.results.row import Row
from blurb.system.files import write_whole

LAB = RESULTS.parent / "lab"
STUDY = "vocabulary-and-masking"
COLUMNS = (
    "family",
    "dataset",
    "protocol",
    "measure",
    "encoders",
    "pairs",
    "right",
    "pairs_holm",
    "right_holm",
    "tau",
)
REFERENCE = "quick"
ASKED = (("sketch", "score"), ("probe", "score"), ("quick", "loss"), ("sketch", "loss"))
ENOUGH = 3
Rows = Mapping[str, Mapping[str, Row]]
"""Protocol -> encoder -> its row."""


def checkpoints(path: Path) -> Rows:
    """The rows of a table of results."""
    rows: dict[str, dict[str, Row]] = {}
    for row in ranking.read_rows(None, [path]):
        rows.setdefault(row.configuration.protocol.partition("@")[0], {})[row.model] = row
    return rows


def variants(folder: Path) -> Rows:
    """The rows of a study, each with its pretrainings as runs."""
    study = spec.read(folder.name)
    return {protocol: parts.rows(folder, study, protocol) for protocol in study.protocols}


def by_measure(row: Row, task: str, measure: str) -> list[float]:
    """A value for each run, upwards where better."""
    return row.values(task) if measure == "score" else [-value for value in losses(row, task)]


def lines(family: str, rows: Rows) -> Iterator[dict[str, object]]:
    """A line for each dataset, protocol and measure that can be asked, and one of all datasets."""
    every: dict[tuple[str, str], list[Agreement]] = {}
    for task in dict.fromkeys(
        name for row in rows.get(REFERENCE, {}).values() for name in row.datasets
    ):
        reference = _scores(rows[REFERENCE], task, "score")
        for protocol, measure in ASKED:
            cheap = _scores(rows.get(protocol, {}), task, measure)
            common = len(reference.keys() & cheap.keys())
            if common >= ENOUGH:
                found = agreement(reference, cheap)
                every.setdefault((protocol, measure), []).append(found)
                figures = (
                    found.separated,
                    found.right,
                    found.holm,
                    found.holm_right,
                    f"{found.tau:.2f}",
                )
                yield dict(
                    zip(COLUMNS, (family, task, protocol, measure, common, *figures), strict=True)
                )
    for (protocol, measure), all_ in every.items():
        sums = [
            sum(each)
            for each in zip(
                *((a.separated, a.right, a.holm, a.holm_right) for a in all_), strict=True
            )
        ]
        yield dict(zip(COLUMNS, (family, "all", protocol, measure, "", *sums, ""), strict=True))


def _scores(rows: Mapping[str, Row], task: str, measure: str) -> Scores:
    found = {
        name: by_measure(row, task, measure) for name, row in rows.items() if task in row.datasets
    }
    return {name: values for name, values in found.items() if values}


def main() -> None:
    """Writes and prints the table."""
    found = [*lines("checkpoints", checkpoints(LAB / "series" / "results.csv"))]
    found += lines("variants", variants(LAB / STUDY))
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    write_whole(RESULTS / "lab.csv", text.getvalue().encode())
    for line in found:
        print(*line.values())


if __name__ == "__main__":
    main()
