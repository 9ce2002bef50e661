"""The score against the published totals and a plain recomputation, and the ends of skill."""

import importlib
import math
import random
import statistics
from collections.abc import Mapping
from pathlib import Path

import pytest

import blurb
from blurb import tasks
from blurb.leaderboard import ranking
from blurb.messages.errors import UnknownName
from blurb.results import published
from blurb.results.comparison import compare_rows
from blurb.results.decomposition import Decomposition, binomial_error, decompose_difference
from blurb.results.row import Published, Row
from blurb.results.score import (
    DATASETS,
    DatasetScores,
    blurb_12,
    blurb_score,
    bounds,
    dataset_weights,
    score_spread,
    skill_percent,
    type_means,
    type_weights,
)
from blurb.row_files.references import row_of
from blurb.store.trial import Configuration
from tests.rewriting import csv_lines

NAMES = [task.name for task in tasks.all() if task.paper_order]
PRINTED = {
    ("gu2021", "BERT uncased"): 76.11,
    ("gu2021", "BERT cased"): 75.86,
    ("gu2021", "RoBERTa"): 76.46,
    ("gu2021", "BioBERT"): 80.34,
    ("gu2021", "SciBERT uncased"): 78.86,
    ("gu2021", "SciBERT cased"): 78.14,
    ("gu2021", "ClinicalBERT"): 77.29,
    ("gu2021", "BlueBERT"): 76.27,
    ("gu2021", "PubMedBERT"): 81.16,
    ("gu2021", "PubMedBERT-fulltext"): 81.50,
    ("linkbert2022", "PubMedBERT"): 81.10,
    ("linkbert2022", "BioLinkBERT-base"): 83.39,
    ("linkbert2022", "BioLinkBERT-large"): 84.30,
}
ROWS = {(row.source, row.model): row for row in published.shipped()}


@pytest.mark.parametrize("key", PRINTED)
def test_published_rows_recompute_from_their_thirteen_numbers(key: tuple[str, str]) -> None:
    row = ROWS[key]
    score = blurb_score(row.means())
    assert len(row.means()) == 13
    assert round(score, 2) == PRINTED[key] == row.printed


def test_the_score_is_not_the_mean_of_thirteen() -> None:
    row = ROWS["gu2021", "PubMedBERT"]
    assert statistics.fmean(row.means().values()) == pytest.approx(81.95, abs=0.005)
    assert blurb_score(row.means()) == pytest.approx(81.161, abs=0.0005)


@pytest.mark.parametrize("missing", NAMES)
def test_no_score_without_all_thirteen(missing: str) -> None:
    scores = {name: 50.0 for name in NAMES if name != missing}
    assert blurb_score(scores) is None
    assert len(type_means(scores)) == 5


def test_an_unknown_dataset_is_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'biosses'"):
        blurb_score({"bioses": 1.0})


def test_weights_are_those_of_the_formula() -> None:
    shares = dataset_weights()
    assert sum(shares.values()) == pytest.approx(1)
    for weights in type_weights().values():
        assert sum(shares[name] for name in weights) == pytest.approx(1 / 6)
    values = {name: float(i * i) for i, name in enumerate(NAMES)}
    assert blurb_score(values) == pytest.approx(sum(shares[name] * values[name] for name in NAMES))


def test_spread_against_simulated_seeds() -> None:
    numpy = pytest.importorskip("numpy")
    rng = numpy.random.default_rng(0)
    deviations = {name: (0.5 + i / 10, 5) for i, name in enumerate(NAMES)}
    runs = {name: rng.normal(0, sd, size=200_000) for name, (sd, _) in deviations.items()}
    simulated = sum(dataset_weights()[name] * runs[name] for name in NAMES)
    found = score_spread(deviations)
    assert found[0] == pytest.approx(float(numpy.std(simulated)), rel=0.01)
    assert found[1] == pytest.approx(found[0] / 5**0.5)
    assert score_spread({**deviations, NAMES[0]: (0.0, 1)}) is None


def test_best_of_the_paper_takes_no_other_source() -> None:
    best = published.best_of_paper()
    assert best["pubmedqa"] == (60.24, "BioBERT")
    assert best["ncbi-disease"] == (89.13, "BioBERT")
    assert best["bioasq"] == (87.56, "PubMedBERT")
    assert set(best) == set(NAMES)


def test_numbers_that_were_not_read_in_their_source_are_marked(tmp_path: Path) -> None:
    assert ROWS["linkbert2022", "BioLinkBERT-base"].certainty == "printed"
    second_hand = ROWS["blurb-leaderboard", "BioM-ALBERT-xxlarge"]
    assert (second_hand.certainty, second_hand.means(), second_hand.score) == ("quoted", {}, 84.10)
    assert "quoted" in second_hand.remarks[0]
    # As 0.1.0 wrote it: other words than printed count as recalled
    path = tmp_path / "external.csv"
    path.write_text(
        ",".join(published.COLUMNS) + "\ns,v,m,gad,80,1,printed\ns,v,m,ddi,80,1,heard\n"
    )
    (old,) = published.read(path)
    assert "from memory" in old.remarks[0]


def test_each_source_keeps_its_own_figures_of_pubmedbert() -> None:
    gu, linkbert = ROWS["gu2021", "PubMedBERT"], ROWS["linkbert2022", "PubMedBERT"]
    assert (gu.means()["jnlpba"], linkbert.means()["jnlpba"]) == (79.10, 80.06)
    assert (gu.means()["gad"], linkbert.means()["gad"]) == (83.96, 82.34)
    assert "80.06" in gu.remarks[0]
    assert "79.10" in linkbert.remarks[0]
    assert gu.certainty == linkbert.certainty == published.PRINTED


@pytest.mark.extensions
def test_a_row_has_one_score_everywhere() -> None:
    from blurb.extensions.reports.html.collect import entry_of

    for row in published.shipped():
        expected = "" if row.score is None else f"{row.score:.2f}"
        shown = ranking.entry(row).values.get("score")
        on_page = entry_of(row).score
        assert ("" if shown is None else f"{shown.mean:.2f}") == expected
        assert ("" if on_page is None else f"{on_page.mean:.2f}") == expected


def test_the_mean_of_twelve_is_that_of_the_six_means_without_bioasq() -> None:
    """Oracle: PubMedBERT's figures of Table 6, written out."""
    row = next(
        row for row in published.shipped() if (row.model, row.source) == ("PubMedBERT", "gu2021")
    )
    of = row.means()
    six = [
        sum(of[name] for name in ("bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba"))
        / 5,
        of["ebm-pico"],
        (of["chemprot"] + of["ddi"] + of["gad"]) / 3,
        of["biosses"],
        of["hoc"],
        of["pubmedqa"],
    ]
    assert row.blurb_12 == pytest.approx(sum(six) / 6)
    assert row.score - row.blurb_12 > 2  # BioASQ is the easier of the two
    without = {name: value for name, value in of.items() if name != "bioasq"}
    assert blurb_12(without) == row.blurb_12
    assert blurb_score(without) is None
    assert blurb_12({name: value for name, value in without.items() if name != "gad"}) is None


ROOT = Path(__file__).parent.parent.parent


def test_the_floors_are_the_best_baselines_without_an_encoder_on_the_real_test_sets() -> None:
    """Oracle: the committed rows of `baseline:constant` and `baseline:bigrams`, which scored every test set in full."""
    found = {}
    for table in ("minilm/quick", "baselines"):
        found.update(
            {
                line["model"]: line
                for line in csv_lines(ROOT / "docs" / "results" / table / "leaderboard.csv")
            }
        )
    rows = [found["baseline:constant"], found["baseline:bigrams"]]
    for name, (floor, _) in bounds().items():
        assert floor == pytest.approx(max(float(row[name]) for row in rows), abs=0.006), name
    assert set(bounds()) == {task.name for task in tasks.all() if task.paper_order} - {"bioasq"}


def test_the_ceilings_are_the_best_published_figures() -> None:
    for name, (floor, ceiling) in bounds().items():
        assert ceiling == max(
            row.means()[name] for row in published.shipped() if name in row.means()
        ), name
        assert floor < ceiling


def test_the_scale() -> None:
    floor, ceiling = bounds()["gad"]
    assert skill_percent("gad", floor) == pytest.approx(0)
    assert skill_percent("gad", ceiling) == pytest.approx(100)
    assert skill_percent("gad", (floor + ceiling) / 2) == pytest.approx(50)
    assert (skill_percent("gad", 0) or 0) < 0
    assert skill_percent("bioasq", 90) is None


# Where a difference comes from. Oracles: the sum of the parts, and the figures that a reader of the paper computed.


PAPER = "published:PubMedBERT (gu2021)"
COUNTED: Mapping[str, tuple[float, ...]] = {
    "PubMedBERT general-vocabulary word-piece": (2.00, 0.04, 0.01, 0.23, 0.16, 0.09, 1.46, 1.16),
    "PubMedBERT general-vocabulary whole-word": (1.20, 0.02, -0.02, 0.10, 0.08, 0.10, 0.92, 0.93),
    "PubMedBERT word-piece": (1.55, 0.12, -0.01, 0.29, -0.03, 0.32, 0.84, 0.75),
    "PubMedBERT mixed-domain": (1.13, 0.03, -0.07, 0.12, 0.39, -0.14, 0.80, 0.71),
    "PubMedBERT half-time": (0.93, 0.05, -0.06, 0.16, 0.03, 0.03, 0.72, 0.68),
    "BioBERT": (0.82, 0.04, 0.03, 0.23, 0.46, 0.13, -0.08, 0.29),
}
"""All, NER, PICO, RE, similarity, HoC, QA, of it BioASQ: a script of a reviewer on the paper's tables."""


def parts_of(reference: str) -> Decomposition:
    found = decompose_difference(
        compare_rows(
            row_of(PAPER, "runs"), row_of(f"published:{reference} (gu2021)", "runs"), "test", False
        )
    )
    assert found is not None
    return found


@pytest.mark.parametrize("name", COUNTED)
def test_the_parts_that_were_counted_from_the_paper(name: str) -> None:
    found = parts_of(name)
    bioasq = next(part for part in found.datasets if part.name == "bioasq")
    figures = [found.total, *(part.points for part in found.types), bioasq.points]
    # They round twice
    assert [round(figure, 2) for figure in figures] == pytest.approx(COUNTED[name], abs=0.0101)


def test_the_ablations_recompute_to_the_printed_scores_and_are_in_no_ranking() -> None:
    rows = published.ablations()
    assert len(rows) == 7
    for row in rows:
        assert round(blurb_score(row.means()) or 0.0, 2) == row.printed
        assert row.remarks[-1].startswith("ablation: ")
    assert not {row.name for row in rows} & {row.name for row in published.shipped()}


def row(scores: Mapping[str, float]) -> Row:
    datasets = {name: DatasetScores(name, means={"test": score}) for name, score in scores.items()}
    return Published("m", Configuration("", "", {}, "", "blurb"), datasets)


@pytest.mark.parametrize("lacking", [(), ("bioasq",)])
@pytest.mark.parametrize("seed", range(20))
def test_the_parts_add_up(seed: int, lacking: tuple[str, ...]) -> None:
    draw = random.Random(seed)
    first, other = (
        {name: draw.uniform(0, 100) for name in DATASETS if name not in lacking} for _ in range(2)
    )
    found = decompose_difference(compare_rows(row(first), row(other), "test", False))
    score = blurb_12 if lacking else blurb_score
    difference = (score(first) or 0.0) - (score(other) or 0.0)
    assert found.total == pytest.approx(difference, abs=1e-9)
    for parts in (found.datasets, found.types):
        assert math.fsum(part.points for part in parts) == pytest.approx(difference, abs=1e-9)
        assert math.fsum(part.share or 0.0 for part in parts) == pytest.approx(1.0, abs=1e-9)


def test_rows_that_are_not_complete_or_equal_have_no_shares() -> None:
    scores = dict.fromkeys(DATASETS, 50.0)
    equal = decompose_difference(compare_rows(row(scores), row(scores), "test", False))
    assert {part.share for part in equal.parts} == {None}
    assert equal.sentences == []
    assert decompose_difference(compare_rows(row(scores), row({"gad": 1.0}), "test", False)) is None


def test_a_small_set_that_carries_most_is_told() -> None:
    (sentence,) = parts_of("PubMedBERT general-vocabulary whole-word").sentences
    assert sentence == (
        "bioasq with its 140 test examples carries 77% of the difference (+0.93 of +1.20); the binomial standard error "
        "of one of its figures is 0.30 points of it."
    )
    assert binomial_error("bioasq", 76.41) == pytest.approx(100 * math.sqrt(0.7641 * 0.2359 / 140))


def test_it_is_a_table_in_python() -> None:
    table = blurb.compare(PAPER, "published:PubMedBERT word-piece").parts()
    assert list(table["name"])[:2] == ["ner", "bc5-chem"]
    types = table[table["name"] == table["type"]]
    assert types["points"].sum() == pytest.approx(1.55, abs=0.005)
    assert types["share"].sum() == pytest.approx(100.0)


def test_the_page_is_what_the_command_writes() -> None:
    command = importlib.import_module("benchmarks.where_the_score_comes_from")
    page = Path(ROOT / "docs" / "where-the-score-comes-from.md").read_text(encoding="utf-8")
    assert page == command.page()
    # From the reader's points, rounded before they were divided, QA carries 54 to 77 %.
    assert "QA carries 55% to 78%, and BioASQ alone 49% to 77%" in page
    assert "at most 0.12 points" in page
    errors = [100 * math.sqrt(score / 100 * (1 - score / 100) / 140) for score in (87.56, 73.69)]
    assert f"{errors[0]:.1f} to {errors[1]:.1f} points" in page
