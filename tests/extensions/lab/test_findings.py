"""What the parts of a study show; the pretraining is the unit of a test."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm, sem, t, ttest_ind

import blurb
from blurb.extensions.lab.study import findings, spec
from blurb.extensions.lab.study.parts import variant_row
from blurb.messages.errors import DataError
from blurb.results.comparison import compare_rows
from blurb.results.row import Row
from tests.results import invented

VALUES = {
    "a": ((62.1, 71.0), (62.4, 70.2), (62.0, 73.5)),
    "b": ((58.0, 70.9), (57.2, 71.1), (59.3, 70.0)),
}


def encoder(name: str, seed: int) -> Row:
    gad, hoc = VALUES[name][seed - 1]
    row = invented.row(f"{name}-{seed}", {"gad": [gad], "hoc": [hoc]})
    return invented.named(row, weights=f"{name}{seed}" * 8)


def variant(name: str) -> Row:
    return variant_row(name, {seed: encoder(name, seed) for seed in (1, 2, 3)})


def test_the_runs_of_a_variant_are_its_pretrainings() -> None:
    row = variant("a")
    assert row.values("gad") == [62.1, 62.4, 62.0]
    assert (row.model, row.seeds("hoc"), row.datasets["hoc"].planned) == ("a", (1, 2, 3), 3)
    assert row.weights != variant("b").weights


def test_a_difference_of_variants_is_tested_over_pretrainings() -> None:
    """Against scipy: Welch's test over the scores of the pretrainings."""
    lines = {
        line.name: line
        for line in compare_rows(variant("a"), variant("b"), "test", with_units=False)
    }
    for place, task in enumerate(("gad", "hoc")):
        samples = [[scores[place] for scores in VALUES[name]] for name in VALUES]
        assert lines[task].comparison.p == pytest.approx(
            ttest_ind(*samples, equal_var=False).pvalue
        )


def test_one_pretraining_a_side_gives_no_p() -> None:
    rows = [variant_row(name, {1: encoder(name, 1)}) for name in VALUES]
    assert all(line.p is None for line in compare_rows(*rows, "test", with_units=False))


def test_what_is_no_variant() -> None:
    twice = invented.row("a-1", {"gad": [60.0, 61.0]})
    with pytest.raises(DataError, match="has 2 runs of gad"):
        variant_row("a", {1: twice})
    other = encoder("a", 2)
    other = invented.named(
        other, configuration=replace(other.configuration, protocol_hash="f" * 64)
    )
    with pytest.raises(DataError, match="another configuration"):
        variant_row("a", {1: encoder("a", 1), 2: other})


def sentences(rows: Mapping[str, Row], units: findings.Units | None = None) -> list[str]:
    return findings.reading("b", findings.compared(rows, "b", units))


def test_the_reading_says_what_is_separated_and_what_it_would_take() -> None:
    gad, hoc = sentences({name: variant(name) for name in VALUES})
    assert gad.startswith("gad: a minus b: +4.00 ± ")
    assert gad.endswith(": separated.")
    assert "+0.90" in hoc
    assert "not separated; about " in hoc
    alone = {name: variant_row(name, {1: encoder(name, 1)}) for name in VALUES}
    assert all("of these checkpoints alone" in line for line in sentences(alone))


def test_the_table_against_numbers_by_hand() -> None:
    """Oracle: scipy's t interval; the published column is that of the shipped table."""
    rows = {name: variant(name) for name in VALUES}
    first, other = spec.read("vocabulary-and-masking").variants[-2:]
    study = replace(
        spec.read("vocabulary-and-masking"),
        variants=[replace(first, name="a"), replace(other, name="b")],
        tasks=blurb.tasks.load_selection("gad,hoc"),
        protocols=["quick"],
    )
    cells = {
        (cell.dataset, cell.variant): cell for cell in findings.cells(study, {"quick": rows}, {})
    }
    values = [gad for gad, _ in VALUES["a"]]
    low, high = t.interval(0.95, 2, np.mean(values), sem(values))
    assert cells["gad", "a"].mean == pytest.approx(np.mean(values))
    assert cells["gad", "a"].half == pytest.approx((high - low) / 2)
    assert cells["gad", "a"].sd == pytest.approx(np.std(values, ddof=1))
    assert cells["mean", "b"].mean == pytest.approx(np.mean(VALUES["b"]))
    assert cells["mean", "b"].sd == pytest.approx(np.std(np.mean(VALUES["b"], axis=1), ddof=1))
    # Gu et al., Table 7
    assert (cells["gad", "a"].published, cells["gad", "b"].published) == (81.74, 83.96)
    page = findings.Findings(study, Path("out"), {"quick": rows}, {}, {}).markdown()
    halves = [
        half / 2
        for half in map(
            np.ptp, [t.interval(0.95, 2, 0, sem([gad for gad, _ in VALUES[name]])) for name in "ab"]
        )
    ]
    assert f"| gad | 62.17 ± {halves[0]:.2f} | 58.17 ± {halves[1]:.2f} | 81.74 | 83.96 |" in page


def test_the_page_says_which_were_pretrained_in_fp32() -> None:
    study = replace(spec.read("vocabulary-and-masking"), variants=[])
    bits = dict.fromkeys(("model", "frequencies", "pairs"), 1.0)

    def made(seed: int, precision: str, words: int = 9) -> dict[str, object]:
        return {
            "seen": {"words": words, "tokens": words, "epochs": 1, "seconds": 1, "flops": words},
            "recipe": {"seed": seed, "whole_word": False},
            "precision": precision,
            "bits per byte": bits,
            "text": {"source": "notes.txt", "words": 5, "datasets without original text": {}},
        }

    both = {"a": [made(1, "fp32"), made(2, "bf16")], "random": [made(1, "fp32", words=0)]}
    shown = findings.Findings(study, Path("out"), {study.protocols[0]: {}}, {}, both)
    page = shown.markdown()
    assert "Pretrained with products in fp32: a 1. All others: in bf16." in page
    assert "Text: notes.txt, 5 words." in page
    for each in ([made(1, "bf16")], [made(1, "fp32"), made(2, "fp32")]):
        assert "Pretrained with" not in replace(shown, facts={**both, "a": each}).markdown()


def test_where_a_difference_of_means_comes_from(tmp_path: Path) -> None:
    """Oracle: the differences of numpy's means by the number of datasets, which add up to that of the means."""
    rows = {name: variant(name) for name in VALUES}
    first, other = spec.read("vocabulary-and-masking").variants[-2:]
    study = replace(
        spec.read("vocabulary-and-masking"),
        variants=[replace(first, name="a"), replace(other, name="b")],
        reference="b",
        tasks=blurb.tasks.load_selection("gad,hoc"),
        protocols=["quick"],
    )
    shown = findings.Findings(study, tmp_path, {"quick": rows}, {}, {})
    (parts,) = shown.decompositions().values()
    points = (np.mean(VALUES["a"], axis=0) - np.mean(VALUES["b"], axis=0)) / 2
    assert {part.name: part.points for part in parts.datasets} == pytest.approx(
        dict(zip(("gad", "hoc"), points, strict=True))
    )
    assert parts.total == pytest.approx(np.mean(VALUES["a"]) - np.mean(VALUES["b"]))
    cells = {(cell.dataset, cell.variant): cell.mean for cell in shown.lines()}
    assert parts.total == pytest.approx(cells["mean", "a"] - cells["mean", "b"])
    assert sum(part.share or 0 for part in parts.datasets) == pytest.approx(1)
    low, high = ttest_ind(
        *([gad for gad, _ in VALUES[name]] for name in "ab"), equal_var=False
    ).confidence_interval()
    assert parts.datasets[0].interval == pytest.approx((low / 2, high / 2))
    page = shown.markdown()
    gad, hoc = points
    line = f"| gad | {gad:+.2f} ± {(high - low) / 4:.2f} ({gad / (gad + hoc):.0%}) |\n| hoc | {hoc:+.2f} ± "
    assert line in page
    assert f"| mean | {gad + hoc:+.2f} |\n" in page
    assert "- a: gad with its 534 test examples carries " in page
    lacking = replace(study, tasks=blurb.tasks.load_selection("gad,hoc,biosses"))
    assert not replace(shown, study=lacking).decompositions()


def test_two_pretrainings_beside_one_give_no_p() -> None:
    """Nothing says that the one recipe varies as the other does."""
    two = variant_row("a", {seed: encoder("a", seed) for seed in (1, 2)})
    lines = sentences({"a": two, "b": variant_row("b", {1: encoder("b", 1)})})
    assert len(lines) == 2
    assert all("of these checkpoints alone" in line and "p " not in line for line in lines)


def test_no_number_of_pretrainings_makes_up_for_few_examples() -> None:
    """Oracle: the power of a normal test with the error of examples and that of the planned pretrainings."""
    rows = {name: variant(name) for name in VALUES}
    few = [findings.needed(1.0, 0.5, variance) for variance in (0.2, 0.05)]
    assert few[0].startswith("no number of pretrainings would")
    count = int(few[1].split()[1])
    error = (2 * 0.5**2 / count + 0.05) ** 0.5
    assert norm.sf(norm.isf(0.025) - 1 / error) >= 0.795
    strict = int(findings.needed(1.0, 0.5, 0.05, tests=6).split()[1])
    error = (2 * 0.5**2 / strict + 0.05) ** 0.5
    assert strict > count
    assert norm.sf(norm.isf(0.025 / 6) - 1 / error) >= 0.795
    assert any("too few test examples" in line for line in sentences(rows, lambda *_: (4.0, 500)))


def test_as_many_pretrainings_as_did_not_separate_a_difference_are_never_said_to_be_enough() -> (
    None
):
    assert findings.needed(50.0, 1.0, there=4).startswith(
        "about 5 pretrainings a side would separate"
    )
    assert findings.needed(50.0, 1.0, there=1).startswith(
        "about 2 pretrainings a side would separate"
    )


def test_the_page_has_a_line_for_each_difference(tmp_path: Path) -> None:
    """Its figures are those of the sentences."""
    rows = {name: variant(name) for name in VALUES}
    study = replace(spec.read("vocabulary-and-masking"), variants=[], reference="b")
    shown = findings.Findings(study, tmp_path, {study.protocols[0]: rows}, {}, {})
    page = shown.markdown()
    for each in shown.differences["a"]:
        assert f"| a | {each.line.name} | {each.line.difference:+.2f} ± {each.half:.2f} | " in page
        assert f" | {each.verdict} |\n" in page
    alone = {study.protocols[0]: {**rows, "a": variant_row("a", {1: encoder("a", 1)})}}
    assert (
        replace(shown, rows=alone)
        .markdown()
        .count(" |  | of these checkpoints alone (one pretraining says nothing of others) |\n")
        == 2
    )
