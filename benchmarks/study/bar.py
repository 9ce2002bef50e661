"""The bar for a cheap row: ordering two published encoders on a set by their mean over the other sets.

An order that costs nothing, since every encoder has a mean (`python -m benchmarks.study.bar`). A cheap protocol has
shown something about a set if it orders more pairs right than this does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean

from blurb.results import published
from blurb.results.score import DATASETS

TABLE_6 = "ACM Health 2021, Table 6"


def complete(version: str = "") -> list[Mapping[str, float]]:
    """The scores of published encoders with all thirteen sets.

    :param version: only of this table
    """
    rows = [row for row in published.shipped() if version in ("", row.version)]
    return [row.means() for row in rows if set(row.means()) >= set(DATASETS)]


def right_of(rows: Sequence[Mapping[str, float]], dataset: str) -> tuple[int, int]:
    """Pairs of encoders whose order on a set is that of their means over the others, and all pairs without ties."""
    others = [name for name in DATASETS if name != dataset]
    pairs = [
        (a[dataset] - b[dataset], fmean(a[name] - b[name] for name in others))
        for a, b in combinations(rows, 2)
    ]
    told = [pair for pair in pairs if pair[0]]
    return sum(own * mean > 0 for own, mean in told), len(told)


def main() -> None:
    """Prints the bar by set, for Table 6 and for all complete rows."""
    groups = {"Table 6": complete(TABLE_6), "all": complete()}
    print("set             " + "".join(f"{name:>24}" for name in groups))
    totals = {name: [0, 0] for name in groups}
    for dataset in DATASETS:
        cells = []
        for name, rows in groups.items():
            right, pairs = right_of(rows, dataset)
            totals[name] = [totals[name][0] + right, totals[name][1] + pairs]
            cells.append(f"{100 * right / pairs:.0f} % of {pairs}")
        print(f"{dataset:<16}" + "".join(f"{cell:>24}" for cell in cells))
    sums = (f"{100 * right / pairs:.1f} % of {pairs}" for right, pairs in totals.values())
    print(f"{'all sets':<16}" + "".join(f"{cell:>24}" for cell in sums))


if __name__ == "__main__":
    main()
