"""LaTeX and Markdown tables: the numbers of the store and of the paper, the best in bold, text escaped."""

from __future__ import annotations

import csv
import re
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blurb import tasks
from blurb.extensions.reports.export.formats.latex import escape as escape_latex
from blurb.extensions.reports.export.formats.markdown import escape as escape_markdown
from blurb.results import published, tables
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.extensions.reports.export.stores import export
from tests.store.fakes import CONFIGURATION, finish, row, trial

NAMES = [task.name for task in tasks.all() if task.paper_order]
TITLES = [task.title for task in tasks.all() if task.paper_order]


def fill(folder: Path, model: str = "my_model", names: list[str] = NAMES, seeds: int = 3) -> None:
    store = Store(folder / "runs")
    planned = [trial(name, seed) for name in names for seed in range(1, seeds + 1)]
    for number, each in enumerate(planned):
        finish(store, model, each, 0.8 + number / 1000)
    rows.write(store, row(model, *planned))


def markdown(text: str) -> tuple[list[str], list[list[str]]]:
    lines = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return lines[0], lines[2:]


def latex(text: str) -> tuple[list[str], list[list[str]]]:
    """Head and lines between \\toprule and \\bottomrule."""
    body = text.split(r"\toprule")[1].split(r"\bottomrule")[0]
    lines = [
        [cell.strip() for cell in re.split(r"(?<!\\)&", line.strip().removesuffix(r"\\"))]
        for line in body.splitlines()
        if line.strip().endswith(r"\\")
    ]
    return lines[0], lines[1:]


def test_the_table_of_the_paper(tmp_path: Path) -> None:
    """Table 6 and "+PMC, longer" of Table 10 as printed (docs/benchmark.md, "Published tables"), with their totals."""
    code, text = export("markdown", "--published", "gu2021", folder=tmp_path)
    assert code == 0
    head, lines = markdown(text)
    assert head[1:] == [
        f"{row.model} (gu2021)" for row in published.shipped() if row.source == "gu2021"
    ]
    assert [line[0] for line in lines] == [*TITLES, "BLURB score"]
    ncbi = [
        "85.67",
        "85.87",
        "86.62",
        "**89.13**",
        "88.10",
        "88.25",
        "86.32",
        "88.04",
        "87.82",
        "88.04",
    ]
    assert lines[2][1:] == ncbi
    totals = [
        "76.11",
        "75.86",
        "76.46",
        "80.34",
        "78.86",
        "78.14",
        "77.29",
        "76.27",
        "81.16",
        "**81.50**",
    ]
    assert lines[-1][1:] == totals


@pytest.mark.costly
def test_numbers_are_those_of_the_leaderboard(tmp_path: Path) -> None:
    fill(tmp_path)
    tables.rebuild(Store(tmp_path / "runs"), tmp_path / "leaderboard.csv")
    with (tmp_path / "leaderboard.csv").open(newline="") as file:
        (expected,) = csv.DictReader(file)
    for name, parse in (("markdown", markdown), ("latex", latex)):
        _, lines = parse(export(name, folder=tmp_path)[1])
        assert [line[1] for line in lines] == [
            *(expected[task] for task in NAMES),
            expected["score"],
        ]
        _, lines = parse(export(name, "--sd", folder=tmp_path)[1])
        values = [80.0, 80.1, 80.2]  # the three seeds of bc5-chem
        assert "80.10" in lines[0][1]
        assert re.findall(r"\d+\.\d+", lines[0][1])[1] == f"{statistics.stdev(values):.2f}"
        assert re.findall(r"\d+\.\d+", lines[-1][1])[1] == expected["score_sd"]


@pytest.mark.parametrize(
    ("name", "bold"), [("markdown", r"\*\*(.+?)\*\*"), ("latex", r"\\textbf\{(.+?)\}")]
)
def test_the_best_of_each_dataset_is_bold(tmp_path: Path, name: str, bold: str) -> None:
    store = Store(tmp_path / "runs")
    scores = {
        "a": {"gad": 0.71231, "ddi": 0.5},
        "b": {"gad": 0.71234, "ddi": 0.6},
        "c": {"gad": 0.7},
    }
    for model, known in scores.items():
        for task, score in known.items():
            finish(store, model, trial(task), score)
            rows.write(store, row(model, trial(task)))
    _, text = export(name, "--tasks", "gad,ddi,bioasq", folder=tmp_path)
    parse = markdown if name == "markdown" else latex
    head, lines = parse(text)
    assert [line[0] for line in lines] == [
        "DDI",
        "GAD",
        "BioASQ",
    ]  # no score line: not all thirteen
    found = [[re.findall(bold, cell) for cell in line[1:]] for line in lines]
    assert found == [
        [[], ["60.00"], []],
        [["71.23"], ["71.23"], []],
        [[], [], []],
    ]  # equal in print: both
    assert lines[0][3] == ("–" if name == "markdown" else "--")
    transposed_head, transposed = parse(
        export(name, "--tasks", "gad,ddi,bioasq", "--transpose", folder=tmp_path)[1]
    )
    assert transposed_head[1:] == [line[0] for line in lines]
    assert [line[0] for line in transposed] == head[1:]
    assert [[line[i] for line in transposed] for i in (1, 2, 3)] == [line[1:] for line in lines]


def test_more_than_ten_models_are_lines(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    for number in range(11):
        finish(store, f"run@{number}", trial("gad"), 0.7 + number / 100)
        rows.write(store, row(f"run@{number}", trial("gad")))
    head, lines = markdown(export("markdown", "--tasks", "gad", folder=tmp_path)[1])
    assert head == ["model", "GAD"]
    assert [line[0] for line in lines] == [f"run@{number}" for number in range(11)]


@pytest.mark.parametrize(
    ("form", "read", "empty"), [("markdown", markdown, "–"), ("latex", latex, "--")]
)
def test_what_has_no_figure_is_left_out_unless_it_is_named(
    form: str, read: Any, empty: str, tmp_path: Path
) -> None:
    fill(tmp_path, "has", ["gad", "hoc"])
    fill(tmp_path, "lacks", ["biosses"])
    head, lines = read(export(form, folder=tmp_path)[1])
    assert [line[0] for line in lines] == ["GAD", "BIOSSES", "HoC"]
    head, lines = read(export(form, "--tasks", "relation", folder=tmp_path)[1])
    assert (head[1:], [line[0] for line in lines]) == (["has"], ["GAD"])
    head, lines = read(export(form, "lacks", "has", "--tasks", "ddi,relation", folder=tmp_path)[1])
    assert (head[1:], [line[0] for line in lines]) == (["lacks", "has"], ["DDI", "GAD"])
    assert lines[0][1:] == [empty, empty]
    head, lines = read(export(form, "--transpose", folder=tmp_path)[1])
    assert head[1:] == ["GAD", "BIOSSES", "HoC"]
    code, text = export(form, "--tasks", "qa", folder=tmp_path)
    assert code == 2
    assert "No finished row has a figure of pubmedqa, bioasq" in text


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_models_with_the_same_note_share_a_line(form: str, tmp_path: Path) -> None:
    for model in ("step-2", "step-10", "step-1"):
        fill(tmp_path, model, ["gad"])
    fill(tmp_path, "other", ["gad"], seeds=2)
    text = export(form, folder=tmp_path)[1]
    assert text.count("3 seeds") == 1
    assert "step-1, step-2, step-10: quick lr=0.001 fp32; 3 seeds" in text
    assert "other: quick lr=0.001 fp32; 2 seeds" in text


def test_what_a_note_says_twice_is_said_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    made = replace(CONFIGURATION, suite="demo", note="synthetic data")
    finish(store, "m", trial("gad"), 0.5, configuration=made)
    rows.write(store, row("m", trial("gad"), configuration=made))
    assert export("markdown", folder=tmp_path)[1].count("synthetic data") == 1


NASTY = "50%_a & b|c #1 {x} ~^ \\cmd $m$ <i>*`\n[y]"


@pytest.mark.parametrize(("name", "parse"), [("markdown", markdown), ("latex", latex)])
def test_a_nasty_name_breaks_no_table(tmp_path: Path, name: str, parse: object) -> None:
    fill(tmp_path, NASTY.replace("\n", " "), ["gad"])  # no name of a row has a line break
    head, lines = (markdown if name == "markdown" else latex)(export(name, folder=tmp_path)[1])
    assert len(head) == 2
    assert all(len(line) == 2 for line in lines)


def test_escapes() -> None:
    assert escape_latex(NASTY) == (
        r"50\%\_a \& b\textbar{}c \#1 \{x\} \textasciitilde{}\textasciicircum{} \textbackslash{}cmd \$m\$ "
        r"\textless{}i\textgreater{}*` [y]"
    )
    assert escape_markdown(NASTY) == r"50%\_a \& b\|c #1 {x} \~^ \\cmd $m$ \<i\>\*\` \[y\]"


def test_a_latex_table_is_balanced(tmp_path: Path) -> None:
    fill(tmp_path, NASTY)
    text = export("latex", "--sd", "--published", "gu2021", folder=tmp_path)[1]
    plain = re.sub(r"\\[{}\\%&$#_]", "", text)
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert re.findall(r"\\begin\{(\w+)\}", text) == re.findall(r"\\end\{(\w+)\}", text)[::-1]
    columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)
    head, lines = latex(text)
    assert {len(head), *map(len, lines)} == {len(columns.group(1))}
