"""Seen and unseen of rows: the committed row of MiniLM, other data, and worlds of which the truth is known."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from blurb.messages import SettingsError, StoreError
from blurb.results.comparison import compare_rows
from blurb.results.row import Row
from blurb.row_files.references import row_of
from blurb.row_files.seen import UNSEEN, ClassFigure, Corpora, count_seen, unseen_scores
from blurb.statistics import bootstrap
from blurb.statistics.bootstrap import Clusters
from tests.results.invented import row

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def minilm() -> Row:
    return row_of((ROOT / "docs" / "results" / "minilm" / "quick" / "row"), ROOT)


@pytest.mark.parametrize(
    ("name", "recalls", "f1s"),
    [
        ("bc5-chem", (93.5, 69.0), (95.3, 68.3)),
        ("bc5-disease", (89.8, 54.3), (90.7, 51.8)),
        ("ncbi-disease", (91.8, 67.4), (92.4, 63.4)),
        ("bc2gm", (75.4, 62.4), (80.1, 57.3)),
        ("jnlpba", (84.6, 68.2), (79.7, 61.1)),
    ],
)
def test_the_row_of_minilm(
    name: str, recalls: tuple[float, float], f1s: tuple[float, float], minilm: Row, real_data: Path
) -> None:
    """Counted from the same files by independent code for the review of 1ec2948e."""
    counted = count_seen(minilm, name, "test", Corpora(real_data, None))
    for figure, expected in (("recall", recalls), ("f1", f1s)):
        for place, value in enumerate(expected):
            mean = counted.of_figure(place, figure).scores.mean()  # type: ignore[arg-type]
            assert round(float(mean), 1) == value
    # Both classes together are the score of the row.
    sums = counted.clusters.counts.sum(1).reshape(-1, 2, 3).sum(1)
    whole = 200 * sums[:, 0] / (sums[:, 1] + sums[:, 2])
    assert whole.tolist() == pytest.approx(minilm.values(name), abs=1e-9)
    assert (counted.seeds, counted.capped, counted.shared) == ((1, 2, 3), False, True)


def test_another_train_set_is_refused(minilm: Row, real_data: Path, tmp_path: Path) -> None:
    shutil.copytree(real_data / "NCBI-disease", tmp_path / "NCBI-disease")
    train = tmp_path / "NCBI-disease" / "train.tsv"
    train.write_text(train.read_text("utf-8").partition("\n\n")[2], "utf-8")
    with pytest.raises(StoreError, match="seed 1, has other data of ncbi-disease"):
        count_seen(minilm, "ncbi-disease", "test", Corpora(tmp_path, None))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gad", "no strings that train could have"),
        ("hoc", "no strings that train could have"),
        ("chemprot", "has dummies in place of its entities; --raw RAW gives their names"),
        ("ebm-pico", "has no train split here"),
    ],
)
def test_what_has_no_such_figure_says_why(
    name: str, reason: str, minilm: Row, real_data: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        count_seen(minilm, name, "test", Corpora(real_data, None))
    assert reason.lower() in str(caught.value).lower()


def test_a_row_without_predictions_has_none(real_data: Path) -> None:
    table = ROOT / "docs" / "results" / "mpnet" / "results.csv"
    alone = row_of(f"{table}:all-mpnet-base-v2 quick@2", ROOT)
    with pytest.raises(SettingsError, match="has no predictions"):
        count_seen(alone, "ncbi-disease", "test", Corpora(real_data, None))
    with pytest.raises(SettingsError, match="No dataset has figures of seen and unseen strings"):
        unseen_scores(alone, "test", Corpora(real_data, None))


def invent(
    random: np.random.Generator,
    recalls: tuple[float, float],
    seeds: int = 5,
    sentences: int = 1_000,
) -> Clusters:
    """Runs on sentences with three mentions in five seen; a prediction is wrong as often as a mention is missed.

    :param recalls: of seen and unseen mentions
    """
    gold = random.poisson((0.9, 0.6), (sentences, 2))
    hardness = random.normal(0, 0.5, (sentences, 2))
    counts = np.zeros((seeds, sentences, 2, 3))
    for run in range(seeds):
        level = np.log(recalls) - np.log1p(-np.array(recalls)) + random.normal(0, 0.1, 2)
        chance = 1 / (1 + np.exp(-(level + hardness)))
        counts[run, ..., 0] = random.binomial(gold, chance)
        wrong = random.poisson(gold.mean(0) * (1 - chance))
        counts[run, ..., 1], counts[run, ..., 2] = counts[run, ..., 0] + wrong, gold
    names = tuple(map(str, range(sentences)))
    return Clusters(
        ClassFigure(UNSEEN, "f1"), counts.reshape(seeds, sentences, 6), names, "sentences"
    )


def p_of(first: Clusters, other: Clusters) -> float:
    """Of the comparison of F1 of unseen strings."""
    rows = [row(name, {"bc2gm": one.scores.tolist()}) for name, one in (("a", first), ("b", other))]
    examples = {"a": first, "b": other}
    (line, *_) = compare_rows(
        *rows, "test", with_units=True, examples=lambda one, *_: examples[one.model]
    )
    return line.p


def test_who_knows_train_by_heart_is_told_from_who_generalises() -> None:
    random, by_heart, alike = np.random.default_rng(3), 0, 0
    worlds = 30
    for _ in range(worlds):
        memory, reader = invent(random, (0.97, 0.45)), invent(random, (0.84, 0.64))
        by_heart += p_of(memory, reader) < 0.05
        alike += p_of(reader, invent(random, (0.84, 0.64))) < 0.05
    assert by_heart >= 0.95 * worlds
    assert alike <= 4  # of 30 at a level of 5 %; more than 4 happen once in 60


def test_intervals_of_recall_cover() -> None:
    random, covered, worlds = np.random.default_rng(5), np.zeros(2), 60
    truth = [
        invent(np.random.default_rng(7), (0.9, 0.6), seeds=200, sentences=5_000).counts.sum((0, 1))
    ][0].reshape(2, 3)
    for _ in range(worlds):
        units = invent(random, (0.9, 0.6), seeds=3, sentences=400)
        for place in range(2):
            figure = Clusters(ClassFigure(place, "recall"), units.counts, units.names, units.kind)
            low, high = bootstrap.spread(figure, "w", 1_000).interval
            covered[place] += low <= 100 * truth[place, 0] / truth[place, 2] <= high
    assert covered.mean() / worlds >= 0.9
