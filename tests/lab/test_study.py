"""Studies: their files, and the pretraining as the unit of a test."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm, sem, t, ttest_ind

import blurb
from blurb.corpora import demo
from blurb.lab.study import conduct, examples, findings, parts, reading, spec, tables
from blurb.lab.study.units import variant_row
from blurb.messages.errors import BlurbError, DataError
from blurb.results.comparison import compare_rows
from blurb.results.row_scores import RowScores
from blurb.system import leases
from tests.cli.in_process import blurb as command
from tests.results import invented

VALUES = {"a": ((62.1, 71.0), (62.4, 70.2), (62.0, 73.5)), "b": ((58.0, 70.9), (57.2, 71.1), (59.3, 70.0))}


def encoder(name: str, seed: int) -> RowScores:
    gad, hoc = VALUES[name][seed - 1]
    row = invented.row(f"{name}-{seed}", {"gad": [gad], "hoc": [hoc]})
    return replace(row, weights=f"{name}{seed}" * 8)


def variant(name: str) -> RowScores:
    return variant_row(name, {seed: encoder(name, seed) for seed in (1, 2, 3)})


def test_the_runs_of_a_variant_are_its_pretrainings() -> None:
    row = variant("a")
    assert row.values("gad") == [62.1, 62.4, 62.0]
    assert (row.model, row.seeds("hoc"), row.datasets["hoc"].planned) == ("a", (1, 2, 3), 3)
    assert row.weights != variant("b").weights


def test_a_difference_of_variants_is_tested_over_pretrainings() -> None:
    """Against scipy: Welch's test over the scores of the pretrainings."""
    lines = {line.name: line for line in compare_rows(variant("a"), variant("b"), "test", with_units=False)}
    for place, task in enumerate(("gad", "hoc")):
        samples = [[scores[place] for scores in VALUES[name]] for name in VALUES]
        assert lines[task].comparison.p == pytest.approx(ttest_ind(*samples, equal_var=False).pvalue)


def test_one_pretraining_a_side_gives_no_p() -> None:
    rows = [variant_row(name, {1: encoder(name, 1)}) for name in VALUES]
    assert all(line.p is None for line in compare_rows(*rows, "test", with_units=False))


def test_what_is_no_variant() -> None:
    twice = invented.row("a-1", {"gad": [60.0, 61.0]})
    with pytest.raises(DataError, match="has 2 runs of gad"):
        variant_row("a", {1: twice})
    other = encoder("a", 2)
    other = replace(other, configuration=replace(other.configuration, protocol_hash="f" * 64))
    with pytest.raises(DataError, match="another configuration"):
        variant_row("a", {1: encoder("a", 1), 2: other})


@pytest.mark.parametrize("name", spec.ready())
def test_the_shipped_studies_can_be_made(name: str) -> None:
    study = spec.read(name)
    assert study.runs >= 3
    assert len(study.variants) >= 4
    assert len({task.type for task in study.tasks}) >= 4
    assert [variant.recipe.words for variant in study.variants if variant.name == "untrained"] == [0]
    assert all(variant.recipe.words >= 60_000_000 for variant in study.variants if variant.name != "untrained")


TWO = "[variants.a]\n[variants.b]\nwhole_word = true\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[variants.a]\n", "at least two"),
        (f"mask = 1\n{TWO}", "mask is unknown"),
        (f"{TWO}maskrate = 0.3\n", "[variants.b] maskrate is unknown; did you mean mask_rate?"),
        (f"{TWO}mask_rate = 1.0\n", "[variants.b] the mask rate must be between 0 and 1"),
        (f"{TWO}batch = true\n", "[variants.b] batch is of a wrong type"),
        (f"{TWO}vocabulary = '8k'\n", "[variants.b] vocabulary is of a wrong type"),
        (f"reference = 'c'\n{TWO}", "c"),
        (f"runs = 0\n{TWO}", "runs must be 1 to 100"),
        (f"words = 'many'\n{TWO}", "is no number of words"),
        (f"protocols = ['fast']\n{TWO}", "fast"),
        (f"tasks = ['gadd']\n{TWO}", "gadd"),
        (f"protocols = []\n{TWO}", "protocols must name at least one"),
        (f"protocols = ['standard']\n{TWO}", "standard has 10 seeds"),
        (f"text = 5\n{TWO}", "text must be a list"),
        (f"floors = 'bigrams'\n{TWO}", "floors are baselines, such as baseline:NAME"),
        ("variants = 5\n", "variants must be a table"),
    ],
)
def test_a_study_that_cannot_be_made(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(content)
    with pytest.raises(BlurbError) as caught:
        spec.read(file)
    assert told in str(caught.value)


def test_a_study_that_is_not_there(tmp_path: Path) -> None:
    for name, told in (("vocabularies", "vocabulary"), (str(tmp_path / "x.toml"), "no such file")):
        with pytest.raises(BlurbError, match=told):
            spec.read(name)


SMALL = """
title = "Small"
tasks = ["gad", "biosses"]
protocols = ["smoke"]
runs = 2
words = 2000
floors = ["baseline:bigrams"]
[recipe]
vocabulary = 300
length = 32
batch = 8
[variants.untrained]
words = 0
[variants.trained]
"""


@pytest.mark.costly
def test_a_study_from_nothing_and_from_its_parts(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    study, scored, limit = spec.read(tmp_path / "small.toml"), [], [3]

    def score(encoder: Path | str, name: str, protocol: str, store: Path) -> RowScores:
        if [len(scored)] == limit:
            raise KeyboardInterrupt
        scored.append(name)
        names = [task.name for task in study.tasks]
        given = {"protocol": protocol, "suite": "demo", "output": store, "progress": False}
        (row,) = blurb.run(encoder, tasks=",".join(names), name=name, **given).rows  # type: ignore[arg-type]
        return row

    def conducted() -> list[tuple[str, int]]:
        made = conduct.conduct(study, tmp_path / "out", conduct.Texts(demo.prepare()), score, progress=False)
        return [(variant.name, seed) for variant, seed in made]

    with pytest.raises(KeyboardInterrupt):
        conducted()
    assert [variant.name for variant, _ in conduct.missing(tmp_path / "out", study)] == ["untrained", "trained"]
    scored.clear()
    shutil.rmtree(tmp_path / "out" / "work")  # only what is committed is left
    limit.clear()
    assert conducted() == [("untrained", 2), ("trained", 2)]
    assert conducted() == []
    assert not list((tmp_path / "out" / "work").iterdir())
    rows = parts.rows(tmp_path / "out", study, "smoke")
    assert {name: row.seeds("gad") for name, row in rows.items()} == {"untrained": (1, 2), "trained": (1, 2)}
    lines = compare_rows(rows["trained"], rows["untrained"], "test", with_units=False)
    assert {line.name for line in lines} >= {"gad", "biosses"}
    shown = findings.read(tmp_path / "out", study)
    assert set(shown.floors) == {"baseline:bigrams"}
    variance, count = examples.units(tmp_path / "out", study, demo.prepare())("trained", "untrained", "biosses")
    assert count > 5  # 0 where examples are not known
    assert variance >= 0
    assert len(findings.read(tmp_path / "out", study, demo.prepare()).reading()) == 2
    (trained,) = (variant for variant in study.variants if variant.name == "trained")
    for task in ("gad", "biosses"):
        found = examples._clusters(tmp_path / "out", study, trained.name, task, demo.prepare())
        assert found is not None
        assert found.scores == pytest.approx(rows["trained"].values(task), abs=1e-9)
    pages = shown.write()
    assert [path.name for path in pages] == ["README.md", "study.csv", "study.png"]
    assert len(shown.to_pandas()) == 3 * 2 + 3  # three columns, two sets and their mean
    facts = parts.facts(tmp_path / "out", study)
    assert [each["seen"]["words"] for each in facts["untrained"]] == [0, 0]
    assert all(each["bits per byte"]["model"] > 0 for each in facts["trained"])
    assert not list((tmp_path / "out").rglob("*.safetensors"))
    wider = replace(study, tasks=[*study.tasks, blurb.tasks.get("hoc")])
    assert len(conduct.missing(tmp_path / "out", wider)) == 4
    elsewhere = replace(study, variants=[replace(each, text=["notes.txt"]) for each in study.variants])
    with pytest.raises(DataError, match="was made with another text"):
        parts.rows(tmp_path / "out", elsewhere, "smoke")
    other = replace(study, variants=[replace(each, recipe=replace(each.recipe, lr=0.1)) for each in study.variants])
    with pytest.raises(DataError, match="was made with another lr"):
        conduct.missing(tmp_path / "out", other)


def test_the_reading_says_what_is_separated_and_what_it_would_take() -> None:
    rows = {name: variant(name) for name in VALUES}
    gad, hoc = reading.reading(rows, "b")
    assert gad.startswith("gad: a minus b: +4.00 ± ")
    assert gad.endswith(": separated.")
    assert "+0.90" in hoc
    assert "not separated; about " in hoc
    alone = {name: variant_row(name, {1: encoder(name, 1)}) for name in VALUES}
    assert all("of these checkpoints alone" in line for line in reading.reading(alone, "b"))


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
    cells = {(cell.dataset, cell.variant): cell for cell in tables.cells(study, {"quick": rows}, {})}
    values = [gad for gad, _ in VALUES["a"]]
    low, high = t.interval(0.95, 2, np.mean(values), sem(values))
    assert cells["gad", "a"].mean == pytest.approx(np.mean(values))
    assert cells["gad", "a"].half == pytest.approx((high - low) / 2)
    assert cells["gad", "a"].sd == pytest.approx(np.std(values, ddof=1))
    assert cells["mean", "b"].mean == pytest.approx(np.mean(VALUES["b"]))
    assert cells["mean", "b"].sd == pytest.approx(np.std(np.mean(VALUES["b"], axis=1), ddof=1))
    assert (cells["gad", "a"].published, cells["gad", "b"].published) == (81.74, 83.96)  # Gu et al., Table 7
    page = tables.page(study, list(cells.values()), {}, [])
    halves = [
        half / 2
        for half in map(np.ptp, [t.interval(0.95, 2, 0, sem([gad for gad, _ in VALUES[name]])) for name in "ab"])
    ]
    assert f"| gad | 62.17 ± {halves[0]:.2f} | 58.17 ± {halves[1]:.2f} | 81.74 | 83.96 |" in page


def test_a_part_that_another_process_makes_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    study = spec.read(tmp_path / "small.toml")
    work = tmp_path / "out" / "work"
    work.mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        for name in ("baseline-bigrams", "untrained-1", "untrained-2", "trained-1", "trained-2"):
            stack.enter_context(leases.held(work / f"{name}.lease"))
        script = (
            "from pathlib import Path\nfrom blurb.lab.study import conduct, spec\nfrom blurb.system import leases\n"
            "leases.wait_for_stale = list\n"  # in the place of two minutes, after which all are still held
            f"study = spec.read({str(tmp_path / 'small.toml')!r})\n"
            f"print(list(conduct.conduct(study, Path({str(tmp_path / 'out')!r}), None, None)))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert len(conduct.missing(tmp_path / "out", study)) == 4


def test_the_command(tmp_path: Path) -> None:
    code, out, _ = command(["study", "masking", "--dry-run", "--output", str(tmp_path / "out")], tmp_path)
    assert (code, out.splitlines()[-1][:42]) == (0, "15 of 15 pretrainings are missing in " + str(tmp_path)[:5])
    assert "whole-word, pretraining 3: 60,000,000 words" in out
    for words, told in (
        (["study", "maskings"], "masking"),
        (["study", "masking", "--output", str(tmp_path / "out")], "add --data"),
        (["study", "masking", "--read", "--output", str(tmp_path / "out")], "no finished part"),
    ):
        code, _, err = command(words, tmp_path)
        assert code == 2
        assert told in err
    assert not (tmp_path / "out").exists()


def test_the_front_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for call, told in (
        (lambda: blurb.pretrain("encoder", "missing.txt"), "missing.txt"),
        (lambda: blurb.pretrain("encoder", "train"), "train"),
        (lambda: blurb.pretrain("encoder", "train", masking=0.3), "masking"),
        (lambda: blurb.study("masking", told=3), "told must be a function of a sentence"),  # type: ignore[arg-type]
    ):
        with pytest.raises(BlurbError, match=told):
            call()
    assert "masking" not in repr(blurb.study("masking", run=False).rows)
    assert list(tmp_path.iterdir()) == []


def test_two_pretrainings_beside_one_are_read() -> None:
    """The variance is that of the side with several."""
    two = variant_row("a", {seed: encoder("a", seed) for seed in (1, 2)})
    lines = list(reading.reading({"a": two, "b": variant_row("b", {1: encoder("b", 1)})}, "b"))
    assert len(lines) == 2
    assert any("not separated; about" in line for line in lines)


def test_no_number_of_pretrainings_makes_up_for_few_examples() -> None:
    """Oracle: the power of a normal test with the error of examples and that of the planned pretrainings."""
    rows = {name: variant(name) for name in VALUES}
    few = [reading._needed(1.0, 0.5, variance) for variance in (0.2, 0.05)]
    assert few[0].startswith("no number of pretrainings would")
    count = int(few[1].split()[1])
    error = (2 * 0.5**2 / count + 0.05) ** 0.5
    assert norm.sf(norm.isf(0.025) - 1 / error) >= 0.795
    assert any("test examples are too few" in line for line in reading.reading(rows, "b", lambda *_: (4.0, 500)))
