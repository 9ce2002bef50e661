"""What `blurb bisect` states of its error, beside how often it is wrong: docs/results/bisect/README.md.

    OMP_NUM_THREADS=1 python -m benchmarks.bisecting [--searches 2000]

A search is of 64 checkpoints, of which one is the first bad one. Each measure of a fine-tuning is normal, with a
deviation of good and one of bad checkpoints; a second measure, where there is one, is as sharp as the first and
independent of it. Counted are the answers that state an error of at most 5 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from blurb.extensions.series.bisecting import ERROR, MOST, Bisection, bisect

OUT = Path(__file__).parents[1] / "docs" / "results" / "bisect" / "README.md"
CHECKPOINTS, SEARCHES = 64, 2_000


class Cell(NamedTuple):
    """What the searches of a cell have in common.

    :param drop: of bad checkpoints
    :param good: deviation of fine-tunings of good checkpoints, of bad ones `bad`
    :param measures: 1, or 2 if there are losses
    :param asked: the drop that the search asks for
    :param seeds: fine-tunings of both ends at the start
    """

    drop: float
    good: float
    bad: float
    measures: int = 1
    asked: float = 0.5
    seeds: int = 3

    @property
    def deviations(self) -> float:
        """The drop in deviations, as a mean square of both sides."""
        return self.drop / float(np.sqrt((self.good**2 + self.bad**2) / 2))


CELLS = [
    Cell(1.2, 1.5, 1.5), Cell(1.5, 1.5, 1.5), Cell(1.5, 1.5, 1.5, 2), Cell(2, 1.5, 1.5), Cell(2, 1.5, 1.5, 2),
    Cell(2, 1.5, 1.5, 1, 2), Cell(2.5, 1.5, 1.5), Cell(3, 1.5, 1.5), Cell(3, 1.5, 1.5, 2), Cell(3, 1.5, 1.5, 1, 3),
    Cell(3, 1.5, 1.5, 2, 3), Cell(5, 1.5, 1.5), Cell(5, 1.5, 1.5, 2, 5), Cell(8, 1.5, 1.5), Cell(1, 0.5, 1.5, 2),
    Cell(4, 0.5, 3), Cell(4, 3, 0.5), Cell(4, 3, 0.5, 2), Cell(6, 0.5, 3, 2), Cell(4, 0.2, 2, 2, 2), Cell(4, 1, 2),
    Cell(3, 1.5, 1.5, seeds=2), Cell(3, 1.5, 1.5, seeds=5), Cell(3, 1.5, 1.5, 2, seeds=10),
]  # fmt: skip


class Outcome(NamedTuple):
    """What came of the searches of a cell."""

    answers: int
    stated: float
    wrong: float
    runs: float

    @property
    def error(self) -> float:
        """The standard error of the share of wrong answers."""
        return float(np.sqrt(self.wrong * (1 - self.wrong) / max(1, self.answers)))


def search(cell: Cell, random: np.random.Generator) -> tuple[Bisection, int]:
    """An answer, and the first bad checkpoint."""
    change = int(random.integers(1, CHECKPOINTS))
    drawn: dict[int, np.ndarray] = {}

    def evaluate(step: int, runs: int) -> dict[str, list[float]]:
        if step not in drawn:
            is_bad = step >= change
            drawn[step] = random.normal(
                cell.drop * is_bad, cell.bad if is_bad else cell.good, (cell.measures, MOST)
            )
        values = {"score": (80 - drawn[step][0][:runs]).tolist()}
        return {**values, "loss": drawn[step][1][:runs].tolist()} if cell.measures > 1 else values

    return bisect(range(CHECKPOINTS), evaluate, cell.asked, seeds=cell.seeds), change


def outcome(cell: Cell, searches: int) -> Outcome:
    """The searches of a cell, which are the same at each call."""
    random = np.random.default_rng(CELLS.index(cell))
    found = [search(cell, random) for _ in range(searches)]
    kept = [pair for pair in found if pair[0].error is not None and pair[0].error <= ERROR]
    wrong = float(np.mean([answer.first_bad != change for answer, change in kept])) if kept else 0.0
    stated = float(np.mean([answer.error for answer, _ in kept])) if kept else 0.0
    runs = np.mean([answer.looks[-1].runs for answer, _ in kept]) if kept else 0.0
    return Outcome(len(kept), stated, wrong, float(runs))


def line(cell: Cell, one: Outcome) -> str:
    """A cell of the table."""
    facts = (
        f"{cell.drop:g}",
        f"{cell.good:g} / {cell.bad:g}",
        f"{cell.deviations:.1f}",
        f"{cell.measures}",
    )
    more = (f"{cell.asked:g}", f"{cell.seeds}", f"{one.answers:,}", f"{one.runs:.1f}")
    errors = (f"{100 * one.stated:.1f}", f"{100 * one.wrong:.1f} ± {100 * one.error:.1f}")
    return f"| {' | '.join((*facts, *more, *errors))} |"


def page(outcomes: Sequence[tuple[Cell, Outcome]], searches: int) -> str:
    """The page with the table."""
    head = ("drop", "deviation good / bad", "drop in deviations", "measures", "--drop", "--seeds")
    results = (
        "answers",
        "fine-tunings of a checkpoint",
        "stated error, %",
        "wrong answers, % ± standard error",
    )
    return "\n".join([
        "# The error that `blurb bisect` states",
        "",
        f"Simulated searches of {CHECKPOINTS} checkpoints with one change, {searches:,} a line.",
        "Made by `python -m benchmarks.bisecting`.",
        f"Answers are those that state an error of at most {ERROR:.0%}; of these the stated error is the mean.",
        "",
        f"| {' | '.join((*head, *results))} |",
        f"|{'---:|' * (len(head) + len(results))}",
        *(line(cell, one) for cell, one in outcomes),
        "",
    ])  # fmt: skip


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--searches", type=int, default=SEARCHES)
    searches = parser.parse_args().searches
    OUT.write_text(
        page([(cell, outcome(cell, searches)) for cell in CELLS], searches), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
