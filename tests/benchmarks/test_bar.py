"""The bar for cheap rows: the counts of the review of 1ec2948e, which other code made from the same table."""

from benchmarks.study.bar import TABLE_6, complete, right_of
from blurb.results.score import DATASETS


def test_the_mean_over_other_sets_orders_so_many_pairs_right() -> None:
    for version, expected in ((TABLE_6, (382, 465)), ("", (883, 998))):
        rows = complete(version)
        counts = [right_of(rows, name) for name in DATASETS]
        assert (sum(right for right, _ in counts), sum(pairs for _, pairs in counts)) == expected


def test_by_set() -> None:
    rows = complete(TABLE_6)
    shares = {
        name: round(100 * right / pairs)
        for name in DATASETS
        for right, pairs in [right_of(rows, name)]
    }
    assert (shares["jnlpba"], shares["gad"], shares["ncbi-disease"], shares["biosses"]) == (
        97,
        89,
        72,
        64,
    )
