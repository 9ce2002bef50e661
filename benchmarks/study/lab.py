"""Decision accuracy of the cheap protocols on the lab's encoders: a second family beside those made from MiniLM.

    python -m benchmarks.study.lab [STUDY] [--parts FOLDER]

The reference is `quick` on test, with a variant's pretrainings as its runs. Asked for the same order of the variants
are `sketch` and `probe` by their scores, and `quick` and `sketch` by the loss of their heads on dev: a share of the
pairs that the reference tells apart, as the field counts decision accuracy (DataDecide, arXiv 2504.11393).
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.study import RESULTS
from benchmarks.study.agreement import Scores, agreement
from blurb.checkpoint_series.curves import losses
from blurb.lab.study import parts, spec
from blurb.results.row_scores import RowScores
from blurb.system.files import write_whole

PARTS = RESULTS.parent / "lab"
COLUMNS = ("dataset", "protocol", "measure", "pairs", "right", "pairs_holm", "right_holm", "tau")
REFERENCE = "quick"
ENOUGH = 3


def by_measure(row: RowScores, task: str, measure: str) -> list[float]:
    """A value for each pretraining, upwards where better."""
    return row.values(task) if measure == "score" else [-value for value in losses(row, task)]


def lines(rows: Mapping[str, Mapping[str, RowScores]], tasks: list[str]) -> Iterator[dict[str, object]]:
    """A line for each dataset, protocol and measure that can be asked.

    :param rows: protocol -> variant -> its row
    """
    for task in tasks:
        reference = _scores(rows.get(REFERENCE, {}), task, "score")
        for protocol, measure in (("sketch", "score"), ("probe", "score"), ("quick", "loss"), ("sketch", "loss")):
            cheap = _scores(rows.get(protocol, {}), task, measure)
            if len(reference.keys() & cheap.keys()) >= ENOUGH:
                found = agreement(reference, cheap)
                figures = found.separated, found.right, found.holm, found.holm_right, f"{found.tau:.2f}"
                yield dict(zip(COLUMNS, (task, protocol, measure, *figures), strict=True))


def _scores(rows: Mapping[str, RowScores], task: str, measure: str) -> Scores:
    found = {name: by_measure(row, task, measure) for name, row in rows.items() if task in row.datasets}
    return {name: values for name, values in found.items() if values}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", nargs="?", default="vocabulary-and-masking")
    parser.add_argument("--parts", type=Path, help="folder of the study")
    parser.add_argument("--out", type=Path, default=RESULTS / "lab.csv")
    given = parser.parse_args()
    study = spec.read(given.study)
    folder = given.parts or PARTS / given.study
    rows = {protocol: parts.rows(folder, study, protocol) for protocol in study.protocols}
    found = list(lines(rows, [task.name for task in study.tasks]))
    if not found:
        raise SystemExit(f"{folder} has fewer than {ENOUGH} variants: nothing can be ordered yet.")
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    write_whole(given.out, text.getvalue().encode())
    for line in found:
        print(*line.values())


if __name__ == "__main__":
    main()
