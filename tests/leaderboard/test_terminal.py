"""What `blurb run` prints at its end. Oracle: NumPy on the runs, the shipped numbers of papers, sums by hand."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from io import StringIO

import numpy as np
import pytest
from rich.console import Console, RenderableType

from blurb import tasks
from blurb.leaderboard import terminal
from blurb.leaderboard.overview import with_neighbours
from blurb.protocols.protocol import load_protocol_file
from blurb.results.row import Origin, Row
from blurb.results.score import DatasetScores, Figure, Run
from blurb.store.trial import Configuration
from tests.results import invented

TASKS = [task for task in tasks.all() if task.paper_order]
NAMES = [task.name for task in TASKS]
WHOLE = {name: [60.0 + place, 62.5 + place, 61.0 + place] for place, name in enumerate(NAMES)}


def row(
    scores: Mapping[str, Sequence[float]],
    suite: str = "blurb",
    verdict: str = "identical",
    planned: int = 0,
    learner: str = "encoder",
    note: str = "",
    model: str = "m",
    protocol: str = "quick",
) -> Row:
    """A row of runs on both splits: dev is 5 above test, and the majority gets 10 there and 20 here."""
    datasets = {
        name: DatasetScores(
            name,
            metric="x",
            planned=planned or len(values),
            runs={
                seed: Run(
                    {"dev": {"x": Figure(value + 5, 10.0)}, "test": {"x": Figure(value, 20.0)}},
                    verdict,
                    "d",
                    "1",
                    {"max_eval": "", "plugins": ""},
                )
                for seed, value in enumerate(values, 1)
            },
        )
        for name, values in scores.items()
    }
    overrides = {"lr": 0.1} if protocol == "quick" else {}
    hash_ = load_protocol_file(protocol).hash if protocol == "standard" else "0" * 64
    configuration = Configuration(protocol, hash_, overrides, "bf16", suite, note)
    return Row(model, configuration, datasets, Origin.STORE, learner=learner, recipe="1")


def printed(*parts: RenderableType) -> str:
    text = StringIO()
    for part in parts:
        Console(width=160, file=text, no_color=True).print(part)
    return "\n".join(line.strip() for line in text.getvalue().splitlines())


def cells(text: str, name: str) -> list[str]:
    """The cells of the line that begins so, which are two blanks apart."""
    (line,) = (one for one in text.splitlines() if one.startswith(name))
    return re.split(r" {2,}", line)


def published() -> list[dict[str, str]]:
    text = (files("blurb.results") / "published.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_a_line_a_dataset_with_its_means_and_the_best_figure_of_the_paper() -> None:
    text = printed(terminal.card(row(WHOLE, planned=5)))
    best: dict[str, tuple[float, str]] = {}
    for line in published():
        if "Table 6" in line["version"] and line["dataset"] != "score":
            best[line["dataset"]] = max(
                best.get(line["dataset"], (0.0, "")), (float(line["score"]), line["model"])
            )
    for task in TASKS:
        values = WHOLE[task.name]
        confidence = f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"
        score, model = best[task.name]
        assert cells(text, f"{task.title} ") == [
            task.title,
            "x",
            f"{np.mean(values) + 5:.2f}",
            confidence,
            f"{score:.2f} {model}",
            "3 of 5",
        ]
    places = [text.index(f"\n{task.title} ") for task in TASKS]
    assert places == sorted(places)
    assert "m   quick lr=0.1   bf16" in text


def test_one_run_has_no_deviation_and_datasets_without_runs_no_line() -> None:
    text = printed(terminal.card(row({"gad": [80.0]})))
    assert (cells(text, "GAD")[3], cells(text, "GAD")[-1]) == ("80.00", "1")
    assert [
        task.title for task in TASKS if re.search(rf"^{re.escape(task.title)} ", text, re.MULTILINE)
    ] == ["GAD"]
    assert terminal.mean_and_sd([80.0]) == "80.00"
    assert terminal.mean_and_sd([80.0, 81.0]) == "80.50 ± 0.71"


def test_the_score_is_the_mean_of_six_with_its_deviation_over_seeds() -> None:
    """Weights by hand: a sixth a type, in equal parts; seeds of different datasets are independent."""
    sizes = dict(zip(tasks.TYPES, (5, 1, 3, 1, 1, 2), strict=True))
    weights = [1 / 6 / sizes[task.type] for task in TASKS]
    score = sum(
        weight * np.mean(WHOLE[task.name]) for weight, task in zip(weights, TASKS, strict=True)
    )
    parts = [
        weight * np.std(WHOLE[task.name], ddof=1)
        for weight, task in zip(weights, TASKS, strict=True)
    ]
    text = printed(terminal.card(row(WHOLE)))
    assert f"BLURB score: {score:.2f}" in text
    assert f"(sd over seeds {np.sqrt(np.sum(np.square(parts))):.2f})" in text
    once = printed(terminal.card(row({name: values[:1] for name, values in WHOLE.items()})))
    assert "BLURB score" in once
    assert "sd over" not in once


@pytest.mark.parametrize("missing", [["bioasq"], ["gad", "hoc"]])
def test_what_is_missing_is_named_in_the_place_of_a_score(missing: list[str]) -> None:
    text = printed(terminal.card(row({name: WHOLE[name] for name in NAMES if name not in missing})))
    assert ", ".join(missing) in text
    assert "score:" in text
    assert not re.search(r"score: \d", text)


def test_what_is_to_be_known_of_a_row_is_said() -> None:
    text = printed(terminal.card(row(WHOLE, note="a word of the protocol", verdict="differs")))
    assert "a word of the protocol" in text
    assert "gad differs" in text
    quiet = printed(terminal.card(row(WHOLE)))
    assert "Note" not in quiet
    assert "verified" not in quiet


@pytest.mark.parametrize(("suite", "learner"), [("demo", "encoder"), ("blurb", "probe")])
def test_no_printed_number_stands_beside_what_cannot_be_compared_with_it(
    suite: str, learner: str
) -> None:
    one = row(WHOLE, suite=suite, learner=learner)
    text = printed(terminal.card(one), with_neighbours([one, one]))
    assert not any(line["model"] in text for line in published())
    assert "Table 6" not in text
    assert ("Demo score" in text) == (suite == "demo")
    assert "verified" not in text
    assert "(linkbert2022)" in printed(with_neighbours([one, row(WHOLE, protocol="standard")]))


def test_a_row_of_ones_own_tasks_has_no_score_and_no_release() -> None:
    text = printed(terminal.card(row({"mine": [80.0]}, verdict="not known")))
    assert "score" not in text
    assert "verified" not in text
    assert "Table 6" not in text


def test_many_rows_are_lines_of_one_table_that_says_once_what_holds_of_all() -> None:
    rows = [
        row({"gad": [80.0 + step, 82.0 + step], "hoc": [70.0]}, model=f"checkpoint-{step}")
        for step in range(12)
    ]
    rows[3] = invented.named(rows[3], configuration=replace(rows[3].configuration, note="another"))
    text = printed(terminal.render_rows(rows))
    assert text.count("No BLURB score") == 1
    assert [line for line in text.splitlines() if "Note:" in line] == [
        f"{rows[3].name}: Note: another."
    ]
    for step, one in enumerate(rows):
        assert cells(text, f"{one.name} ") == [one.name, f"{81 + step:.2f} ± 1.41", "70.00", "3"]
    assert len(text.splitlines()) < 25
    assert printed(terminal.render_rows(rows[:3])).count("No BLURB score") == 3


@pytest.mark.parametrize("width", [80, 120])
def test_a_table_of_many_rows_fits(width: int) -> None:
    rows = [row(WHOLE, model=f"checkpoint-{step}000") for step in range(4)]
    text = StringIO()
    Console(width=width, file=text, no_color=True).print(terminal.render_rows(rows, width))
    assert max(map(len, text.getvalue().splitlines())) <= width
    for name in NAMES:
        assert name in text.getvalue()
        assert f"{np.mean(WHOLE[name]):.2f}" in text.getvalue()


def test_names_are_printed_as_they_are() -> None:
    name = "[bold]x[/] :smile: [/red]"
    one = invented.named(row(WHOLE, note="[red]no[/red]"), model=name)
    text = printed(terminal.card(one), with_neighbours([one]))
    assert text.count(name) == 2
    assert "[red]no[/red]" in text


def test_numbers_of_a_table_without_runs_have_no_line_of_their_own() -> None:
    assert "GAD" not in printed(terminal.card(invented.row("m", means={"gad": 80.0})))
