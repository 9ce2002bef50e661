"""LaTeX and Markdown tables: the numbers of the store and of the paper, the best in bold, text escaped."""

import json
import re
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.extensions.reports.export.formats.latex import escape as escape_latex
from blurb.extensions.reports.export.formats.markdown import escape as escape_markdown
from blurb.results import published, tables
from blurb.row_files.references import row_of
from blurb.store import row_trials as rows
from blurb.store.store import Store
from blurb.store.trial import Configuration
from tests.cli.in_process import done
from tests.cli.test_start_up import loaded
from tests.extensions.reports.export.stores import (
    bioasq,
    export,
    finish as finish_with_answers,
    gad,
    refused,
)
from tests.rewriting import csv_lines
from tests.scoring.test_forms import answers
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
    lines = [
        [cell.strip() for cell in re.split(r"(?<!\\)&", line.strip().removesuffix(r"\\"))]
        for line in text.split(r"\toprule")[1].split(r"\bottomrule")[0].splitlines()
        if line.strip().endswith(r"\\")
    ]
    return lines[0], lines[1:]


def test_the_table_of_the_paper(tmp_path: Path) -> None:
    """Table 6 and "+PMC, longer" of Table 10 as printed (docs/benchmark.md, "Published tables"), with their totals."""
    text = export("markdown", "--published", "gu2021", folder=tmp_path)
    head, lines = markdown(text)
    assert head[1:] == [
        f"{row.model} (gu2021)" for row in published.shipped() if row.source == "gu2021"
    ]
    assert [line[0] for line in lines] == [*TITLES, "BLURB score"]
    assert lines[2][1:] == [
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
    assert lines[-1][1:] == [
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


@pytest.mark.costly
def test_numbers_are_those_of_the_leaderboard(tmp_path: Path) -> None:
    fill(tmp_path)
    tables.rebuild(Store(tmp_path / "runs"), tmp_path / "leaderboard.csv")
    (expected,) = csv_lines(tmp_path / "leaderboard.csv")
    for name, parse in (("markdown", markdown), ("latex", latex)):
        _, lines = parse(export(name, folder=tmp_path))
        assert [line[1] for line in lines] == [
            *(expected[task] for task in NAMES),
            expected["score"],
        ]
        _, lines = parse(export(name, "--sd", folder=tmp_path))
        values = [80.0, 80.1, 80.2]  # the three seeds of bc5-chem
        assert "80.10" in lines[0][1]
        assert re.findall(r"\d+\.\d+", lines[0][1])[1] == f"{statistics.stdev(values):.2f}"
        assert re.findall(r"\d+\.\d+", lines[-1][1])[1] == expected["score_sd"]


@pytest.mark.parametrize(
    ("name", "bold"), [("markdown", r"\*\*(.+?)\*\*"), ("latex", r"\\textbf\{(.+?)\}")]
)
def test_the_best_of_each_dataset_is_bold(tmp_path: Path, name: str, bold: str) -> None:
    store = Store(tmp_path / "runs")
    for model, known in {
        "a": {"gad": 0.71231, "ddi": 0.5},
        "b": {"gad": 0.71234, "ddi": 0.6},
        "c": {"gad": 0.7},
    }.items():
        for task, score in known.items():
            finish(store, model, trial(task), score)
            rows.write(store, row(model, trial(task)))
    text = export(name, "--tasks", "gad,ddi,bioasq", folder=tmp_path)
    parse = markdown if name == "markdown" else latex
    head, lines = parse(text)
    # No score line: not all thirteen
    assert [line[0] for line in lines] == ["DDI", "GAD", "BioASQ"]
    found = [[re.findall(bold, cell) for cell in line[1:]] for line in lines]
    # Equal in print: both
    assert found == [[[], ["60.00"], []], [["71.23"], ["71.23"], []], [[], [], []]]
    assert lines[0][3] == ("–" if name == "markdown" else "--")
    transposed_head, transposed = parse(
        export(name, "--tasks", "gad,ddi,bioasq", "--transpose", folder=tmp_path)
    )
    assert transposed_head[1:] == [line[0] for line in lines]
    assert [line[0] for line in transposed] == head[1:]
    assert [[line[i] for line in transposed] for i in (1, 2, 3)] == [line[1:] for line in lines]


def test_more_than_ten_models_are_lines(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    for number in range(11):
        finish(store, f"run@{number}", trial("gad"), 0.7 + number / 100)
        rows.write(store, row(f"run@{number}", trial("gad")))
    head, lines = markdown(export("markdown", "--tasks", "gad", folder=tmp_path))
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
    head, lines = read(export(form, folder=tmp_path))
    assert [line[0] for line in lines] == ["GAD", "BIOSSES", "HoC"]
    head, lines = read(export(form, "--tasks", "relation", folder=tmp_path))
    assert (head[1:], [line[0] for line in lines]) == (["has"], ["GAD"])
    head, lines = read(export(form, "lacks", "has", "--tasks", "ddi,relation", folder=tmp_path))
    assert (head[1:], [line[0] for line in lines]) == (["lacks", "has"], ["DDI", "GAD"])
    assert lines[0][1:] == [empty, empty]
    head, lines = read(export(form, "--transpose", folder=tmp_path))
    assert head[1:] == ["GAD", "BIOSSES", "HoC"]
    assert "No finished row has a figure of pubmedqa, bioasq" in refused(
        form, "--tasks", "qa", folder=tmp_path
    )


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_models_with_the_same_note_share_a_line(form: str, tmp_path: Path) -> None:
    for model in ("step-2", "step-10", "step-1"):
        fill(tmp_path, model, ["gad"])
    fill(tmp_path, "other", ["gad"], seeds=2)
    text = export(form, folder=tmp_path)
    assert text.count("3 seeds") == 1
    assert "step-1, step-2, step-10: quick lr=0.001 fp32; 3 seeds" in text
    assert "other: quick lr=0.001 fp32; 2 seeds" in text


def test_what_a_note_says_twice_is_said_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    made = replace(CONFIGURATION, suite="demo", note="synthetic data")
    finish(store, "m", trial("gad"), 0.5, configuration=made)
    rows.write(store, row("m", trial("gad"), configuration=made))
    assert export("markdown", folder=tmp_path).count("synthetic data") == 1


NASTY = "50%_a & b|c #1 {x} ~^ \\cmd $m$ <i>*`\n[y]"


@pytest.mark.parametrize(("name", "parse"), [("markdown", markdown), ("latex", latex)])
def test_a_nasty_name_breaks_no_table(tmp_path: Path, name: str, parse: object) -> None:
    fill(tmp_path, NASTY.replace("\n", " "), ["gad"])  # no name of a row has a line break
    head, lines = (markdown if name == "markdown" else latex)(export(name, folder=tmp_path))
    assert len(head) == 2
    assert all(len(line) == 2 for line in lines)


def test_escapes() -> None:
    assert escape_latex(NASTY) == (
        r"50\%\_a \& b\textbar{}c \#1 \{x\} \textasciitilde{}\textasciicircum{} \textbackslash{}cmd \$m\$ "
        r"\textless{}i\textgreater{}*` [y]"
    )
    assert escape_markdown(NASTY) == r"50%\_a \& b\|c #1 {x} \~^ \\cmd $m$ \<i\>\*\` \[y\]"


def test_a_latex_table_is_balanced(tmp_path: Path) -> None:
    fill(tmp_path, NASTY.replace("\n", " "))
    text = export("latex", "--sd", "--published", "gu2021", folder=tmp_path)
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


# Which row an export takes, and what it says if it cannot know.


HEAVY = (
    "torch",
    "transformers",
    "datasets",
    "accelerate",
    "pandas",
    "sklearn",
    "scipy",
    "evaluate",
)


def add(
    store: Store, model: str, configuration: Configuration = CONFIGURATION, score: float = 0.5
) -> None:
    planned = trial("gad", seed=1 + len(store.trial_folders()))
    finish(store, model, planned, score)
    rows.write(store, row(model, planned, configuration=configuration))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Model `a` with three rows, `b` with one, `trial` with one of the demo suite."""
    found = Store(tmp_path / "runs")
    add(found, "alpha")
    add(found, "alpha", replace(CONFIGURATION, precision="bf16"))
    add(found, "alpha", replace(CONFIGURATION, protocol="standard", overrides={}))
    add(found, "beta")
    add(found, "sigma", replace(CONFIGURATION, suite="demo"))
    return found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["latexx"], "Did you mean 'latex'"),
        (["model-index", "alpah"], "Did you mean 'alpha'"),
        (
            ["model-index"],
            "There are 4 such rows; choose one as ROW:\n  'alpha quick lr=0.001 bf16'\n",
        ),
        (["model-index", "alpha quick"], "called 'alpha quick'. Did you mean 'alpha'"),
        (["model-index", "alpha quick lr=0.001 bf61"], "Did you mean 'alpha quick lr=0.001 bf16'"),
        (["model-index", "sigma"], "synthetic demo suite"),
        (["submission", "sigma"], "synthetic demo suite"),
        (["model-index", "beta", "--tasks", "ner"], "beta has no finished trial of bc5-chem"),
        (["bibtex", "--sd"], "--sd does not apply to bibtex, only to latex, markdown"),
        (["markdown", "--published", "gu2012"], "Did you mean 'gu2021'"),
        (["markdown", "sigma", "--published", "gu2021"], "cannot be compared with published ones"),
        (["markdown", "--tasks", "gda"], "Did you mean 'gad'"),
    ],
)
def test_what_is_not_clear_is_an_error_and_writes_nothing(
    store: Store, tmp_path: Path, arguments: list[str], message: str
) -> None:
    assert message in refused(*arguments, "--out", str(tmp_path / "out"), folder=tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["beta", "alpha standard", "alpha quick lr=0.001 bf16"])
def test_a_row_is_an_argument_by_the_name_that_tables_print(
    store: Store, tmp_path: Path, name: str
) -> None:
    export("model-index", name, folder=tmp_path)


def test_a_table_takes_all_rows_of_a_model_and_each_once(store: Store, tmp_path: Path) -> None:
    text = export("markdown", "alpha", "alpha standard", "beta", "--tasks", "gad", folder=tmp_path)
    assert text.splitlines()[0].count("alpha") == 3
    assert text.splitlines()[0].count("beta") == 1


def test_rows_that_differ_in_their_weights_are_told_apart(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    add(store, "alpha")
    planned = trial("gad", seed=9)
    finish(store, "alpha", planned, 0.6)
    rows.write(store, replace(row("alpha", planned), weights="f" * 64))
    assert "'alpha quick lr=0.001 ffffffffffff'" in refused("model-index", folder=tmp_path)
    export("model-index", f"alpha quick lr=0.001 {'f' * 12}", folder=tmp_path)


@pytest.mark.costly
def test_nothing_heavy_is_loaded(store: Store, tmp_path: Path) -> None:
    names = ["latex", "markdown", "model-index", "eval-results", "bibtex"]
    lines = [
        ["export", name, "beta", "--output", str(store.root), "--out", str(tmp_path / name)]
        for name in names
    ]
    assert loaded(lines, HEAVY, tmp_path) == [("0", [])] * len(names)
    assert set(names) <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(("wanted", "names"), [("gad", ["gad"]), ("all", ["bioasq", "gad"])])
def test_the_files_of_a_row_are_of_the_datasets_that_were_asked_for(
    tmp_path: Path, wanted: str, names: list[str]
) -> None:
    found = Store(tmp_path / "runs")
    finish_with_answers(found, "gad", gad())
    finish_with_answers(found, "bioasq", bioasq(), verdict="counts only")
    export("row", "--tasks", wanted, "--out", str(tmp_path / "out"), folder=tmp_path)
    assert sorted(path.stem for path in (tmp_path / "out").glob("*.parquet")) == names
    assert {
        run["task"] for run in json.loads((tmp_path / "out" / "row.json").read_text())["runs"]
    } == set(names)
    assert "has no predictions of hoc; check --tasks" in refused(
        "row", "--tasks", "hoc", "--out", str(tmp_path / "none"), folder=tmp_path
    )


# Of predictions from elsewhere nobody knows weights, precision, device or seed, and no export claims them.


CLAIMS = re.compile(
    r"fp32|bf16|fp16|cpu|cuda|seed|python|precision|device|blurb run", re.IGNORECASE
)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("external")
    for name in ("gad", "ncbi-disease"):
        given = answers(name, read_split(tasks.get(name), demo.prepare(), "test"))
        blurb.score(name, given, demo.prepare(), add="my-tagger", output=folder / "runs")
    return folder


@pytest.mark.parametrize(
    "form", ["markdown", "latex", "model-index", "eval-results", "every-eval-ever", "bibtex"]
)
def test_no_export_claims_what_nobody_knows(form: str, tagger: Path) -> None:
    more = ["--measured-by", "us"] if form == "every-eval-ever" else []
    out = done(["export", form, "my-tagger", *more], tagger)
    out += "".join(
        path.read_text() for path in (tagger / ".eval_results").rglob("*") if path.is_file()
    )
    assert re.findall(CLAIMS, out) == []
    assert row_of("my-tagger", output=tagger / "runs").weights not in out


def test_the_files_of_a_row_tell_its_runs_apart_and_nothing_more(tagger: Path) -> None:
    """The number of a run is `seed` in row.json, which has no other name for it."""
    done(["export", "row", "my-tagger", "--out", "row"], tagger)
    assert json.loads((tagger / "row" / "row.json").read_text())["precision"] == ""
    done(
        ["leaderboard", "verify", "row", "--data", str(demo.prepare()), "--format", "json"], tagger
    )


def test_what_is_stored_claims_nothing(tagger: Path) -> None:
    for path in (tagger / "runs").rglob("*.json"):
        assert re.search("fp32|python|device", path.read_text()) is None, path
    (row,) = blurb.load_results(tagger / "runs").rows
    assert row.configuration.precision == ""


def test_the_page_gives_no_command_that_would_repeat_it(tagger: Path) -> None:
    done(["leaderboard", "html", "--out", "page.html"], tagger)
    page = (tagger / "page.html").read_text()
    assert "blurb run MODEL" not in page
    assert "--precision" not in page
