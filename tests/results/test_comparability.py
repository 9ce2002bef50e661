"""Comparability and notes. Oracles: the rule of docs/leaderboard.md as a table; docs/csv.md's sentences by hand."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from blurb import learners, tasks
from blurb.cli import cli
from blurb.regression import Outcome, Rules, decide_check
from blurb.regression.rules import Limit
from blurb.results import comparability, leaderboard_csv, published, results_csv
from blurb.results.comparability import Reason, Use
from blurb.results.row import Row
from blurb.row_files.references import table_rows
from blurb.store.trial import Configuration
from tests.conftest import ROOT
from tests.results import invented
from tests.rewriting import csv_lines, write_lines

RESULTS = ROOT / "docs" / "results"
NONE = None


def row(**changes: Any) -> Row:
    """A row of GAD on dev and test about which everything is known."""
    made = {
        name: changes.pop(name)
        for name in list(changes)
        if name in Configuration.__dataclass_fields__
    }
    facts = {
        name: changes.pop(name)
        for name in ("data_hash", "metrics_version", "verdict")
        if name in changes
    }
    settings = {
        name: changes.pop(name)
        for name in ("max_eval", "eval_seed", "plugins", "max_train")
        if name in changes
    }
    found = invented.row("m", {"gad": (80.1, 80.3, 80.2)}, split="dev")
    gad = found.datasets["gad"]
    runs = {
        seed: replace(run, settings={**run.settings, **settings}, **facts)
        for seed, run in gad.runs.items()
    }
    found = replace(found, datasets={"gad": replace(gad, runs=runs)})
    return invented.named(found, configuration=replace(found.configuration, **made), **changes)


PAPER = next(one for one in published.shipped() if "gad" in one.means())
CASES: list[tuple[str, Row, Reason | None, Reason | None]] = [
    ("alike", row(), NONE, NONE),
    ("other weights", row(weights="f" * 64), NONE, NONE),
    ("another tokenizer", row(tokenizer="f" * 64), NONE, NONE),
    ("another precision", row(precision="bf16"), NONE, NONE),
    ("another name of one protocol", row(protocol="mine@12345678"), NONE, NONE),
    ("another protocol", row(protocol="standard", protocol_hash="1" * 64), Reason.PROTOCOL, NONE),
    ("another version", row(protocol="quick@2", protocol_hash="2" * 64), Reason.PROTOCOL, NONE),
    ("a changed file of one name", row(protocol_hash="3" * 64), Reason.PROTOCOL, NONE),
    ("an unknown protocol", row(protocol_hash=""), Reason.UNKNOWN, NONE),
    ("overrides", row(overrides={"lr": 0.1}), Reason.OVERRIDES, NONE),
    ("another recipe", row(recipe="2"), Reason.RECIPE, NONE),
    ("an unknown recipe", row(recipe=""), Reason.UNKNOWN, NONE),
    ("other code", row(plugins="head=12ab"), Reason.PLUGINS, NONE),
    ("a baseline", row(learner="baseline"), Reason.LEARNER, NONE),
    ("a probe", row(learner="probe"), Reason.LEARNER, Reason.LEARNER),
    ("other data", row(data_hash="e"), Reason.DATA, Reason.DATA),
    ("data that is not known", row(data_hash="", verdict=""), Reason.UNKNOWN, Reason.UNKNOWN),
    ("the release by its verdict", row(data_hash=""), NONE, NONE),
    ("other metrics", row(metrics_version="2"), Reason.METRICS, Reason.METRICS),
    ("metrics that are not known", row(metrics_version=""), Reason.UNKNOWN, Reason.UNKNOWN),
    ("some examples", row(max_eval="64"), Reason.EXAMPLES, Reason.EXAMPLES),
    (
        "fewer training examples",
        row(max_train="64"),
        NONE,
        NONE,
    ),  # an override or protocol says it, too
]


@pytest.mark.parametrize(
    ("other", "check", "compare"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_the_table_of_uses(other: Row, check: Reason | None, compare: Reason | None) -> None:
    first = row()
    for one, two in ((first, other), (other, first)):
        assert one.comparable_with(two, Use.CHECK, "gad", "dev") is check
        assert one.comparable_with(two, Use.COMPARE, "gad", "dev") is compare
        found = decide_check(one, two, Rules(default=Limit(50.0)))
        assert found.outcome is (Outcome.CANNOT_JUDGE if check else Outcome.PASS)


def test_what_a_check_may_pass_over_is_typed_and_said() -> None:
    """Every key that --across names, and no other: data, metrics, examples and learners stay refusals."""
    for words, other, check, _ in CASES:
        for across in ("protocol", "recipe", "overrides", "unknown"):
            decision = decide_check(other, row(), Rules(across=(across,)))
            passed = (
                check is None
                or across == check.name.lower()
                or (
                    check is Reason.UNKNOWN
                    and across
                    == {"an unknown protocol": "protocol", "an unknown recipe": "recipe"}.get(words)
                )
            )
            assert (decision.outcome is Outcome.PASS) == passed, (words, across)
    assert "protocol: standard / quick" in decide_check(CASES[5][1], row(), Rules()).remarks
    assert "precision: bf16 / fp32" in decide_check(CASES[3][1], row(), Rules()).remarks


def test_a_number_of_a_paper_says_nothing_of_how_it_was_made() -> None:
    assert row().comparable_with(PAPER, Use.CHECK) is Reason.UNKNOWN
    assert row().comparable_with(PAPER, Use.COMPARE) is None
    assert row(learner="probe").comparable_with(PAPER, Use.COMPARE) is Reason.LEARNER


def check(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["check", *arguments], catch_exceptions=False)
    return result.exit_code, " ".join(result.output.split())


def test_one_encoder_under_two_protocols_is_no_regression() -> None:
    """The two commands of the audit, which were exit 1 with "more than runs of one encoder differ"."""
    quick, standard = (
        f"{RESULTS}/minilm/{name}/results.csv:all-MiniLM-L6-v2" for name in ("quick", "standard")
    )
    code, told = check(quick, "--baseline", standard.removesuffix(":all-MiniLM-L6-v2"))
    assert (code, "different protocols: quick@2 / standard" in told) == (2, True)
    assert "The rows differ: the same encoder under two protocols." in told
    study = f"{RESULTS}/protocol-study/results.csv"
    code, told = check(f"{study}:whole quick@2", "--baseline", f"{study}:whole standard-short bf16")
    assert (code, "different protocols: quick@2 / standard-short" in told) == (2, True)
    code, told = check(
        quick, "--baseline", standard.removesuffix(":all-MiniLM-L6-v2"), "--across", "protocol"
    )
    assert (code, "Judged across protocol, as asked for." in told) == (1, True)
    assert "more than seeds explain" in told
    assert "runs of one encoder" not in told


def test_tables_of_means_say_what_was_scored(here: Path) -> None:
    """The audit's pair of leaderboard.csv files alone: 2,000 test examples beside all, which was exit 0."""
    for name in ("quick", "sketch"):
        Path(name).mkdir()
        text = (RESULTS / "minilm" / name / "leaderboard.csv").read_text()
        Path(name, "leaderboard.csv").write_text(text)
    sides = [f"{name}/leaderboard.csv:all-MiniLM-L6-v2" for name in ("sketch", "quick")]
    options = ("--split", "test", "--max-drop", "30")
    code, told = check(sides[0], "--baseline", sides[1], *options)
    assert (code, "pass" in told) == (2, False)
    code, told = check(
        sides[0], "--baseline", sides[1], *options, "--across", "protocol", "--across", "unknown"
    )
    assert (
        code,
        "different examples were scored: at most 2,000 in one row, all in the other" in told,
    ) == (2, True)


def test_a_line_of_means_says_all_that_it_has(tmp_path: Path) -> None:
    """Note, seeds, data, limits and version of the metrics: written, read, and written again letter by letter."""
    for name in ("quick", "sketch", "probe", "standard"):
        rows = results_csv.read(RESULTS / "minilm" / name / "results.csv")
        first, again = tmp_path / "first.csv", tmp_path / "again.csv"
        leaderboard_csv.write(first, rows)
        read = table_rows(first)
        assert [(one.note, one.data, one.run_counts) for one in read] == [
            (one.note, one.data, one.run_counts) for one in rows
        ]
        for one, two in zip(rows, read, strict=True):
            for task, dataset in two.datasets.items():
                assert dataset.limit("max_eval") == one.datasets[task].limit("max_eval")
                assert dataset.known("metrics_version") == one.datasets[task].known(
                    "metrics_version"
                )
        leaderboard_csv.write(again, read)
        lines = [list(csv.DictReader(path.open(encoding="utf-8"))) for path in (first, again)]
        spread = (
            "score_sd",
            "score_low",
            "score_high",
            "blurb-12",
            *tasks.TYPES,
        )  # means of rounded figures
        assert [{key: line[key] for key in line if key not in spread} for line in lines[0]] == [
            {key: line[key] for key in line if key not in spread} for line in lines[1]
        ]


@pytest.mark.parametrize("column", ["max_eval", "plan"])
@pytest.mark.parametrize(
    "cell", ["x", "gad:x", "gad:-1", "gad:1e3", "gad:٣", ":", "gad:" + "9" * 400]
)
def test_a_cell_that_says_nothing_is_named_with_its_line(
    column: str, cell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "leaderboard.csv"
    leaderboard_csv.write(path, [row()])
    (line,) = csv_lines(path)
    write_lines(path, [{**line, column: cell}])
    result = CliRunner().invoke(cli, ["check", f"{path}", "--baseline", f"{path}"])
    assert str(result.exception).startswith(f"{path}:2: {column} must ")


def test_recipes_of_two_baselines_count_by_themselves() -> None:
    """A later recipe of one of them says nothing of the other."""
    recipes = {name: str(kind.recipe) for name, kind in learners.named_kinds().items()}
    assert recipes["constant"] != recipes["majority"]
    rows = [
        row(weights=f"baseline:{name}", recipe=recipes[name]) for name in ("constant", "majority")
    ]
    assert rows[0].comparable_with(rows[1], Use.CHECK) is None
    old = row(weights="baseline:constant", recipe="1")
    assert rows[0].comparable_with(old, Use.CHECK) is Reason.RECIPE


THREE = {"gad": 3, "ddi": 3}


@pytest.mark.parametrize(
    ("words", "seeds", "train", "evaluated", "note"),
    [
        ("", THREE, {}, {}, ""),
        ("a word", THREE, {"gad": 0, "ddi": 0}, {"gad": 0}, "a word"),
        ("", {"gad": 1, "ddi": 1}, {}, {}, "one seed"),
        ("", {"gad": 1, "ddi": 3}, {}, {}, ""),  # some have more
        ("", {}, {}, {}, ""),  # a baseline
        ("", THREE, {"gad": 2000, "ddi": 2000}, {}, "at most 2,000 training examples"),
        ("", THREE, {"gad": 9, "ddi": 0}, {}, "at most 9 training examples (gad)"),
        (
            "",
            THREE,
            {"gad": 9, "ddi": 20, "hoc": 0},
            {},
            "at most 9 or 20 training examples (gad, ddi)",
        ),
        (
            "",
            THREE,
            dict.fromkeys("abcd", 5) | {"e": 0},
            {},
            "at most 5 training examples (4 datasets)",
        ),
        ("", THREE, {}, {"gad": 64, "ddi": 64}, "at most 64 dev and test examples"),
        (
            "words",
            {"gad": 1},
            {"gad": 9},
            {"gad": 7},
            "words; one seed; at most 9 training examples; at most 7 dev and test examples",
        ),
    ],
)
def test_a_note_has_what_was_run_and_nothing_else(
    words: str, seeds: dict[str, int], train: dict[str, int], evaluated: dict[str, int], note: str
) -> None:
    assert comparability.note(words, seeds, train, evaluated) == note
