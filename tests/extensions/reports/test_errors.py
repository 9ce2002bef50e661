"""What a trial gets wrong: every entity in one kind, counts against scikit-learn and the metric, no text unasked."""

import csv
import io
import json
import random
import shlex
from pathlib import Path
from types import SimpleNamespace

import pandas
import pytest
from click.testing import CliRunner
from sklearn.metrics import confusion_matrix

import blurb
from blurb import metrics, tasks
from blurb.cli import cli
from blurb.corpora import demo
from blurb.data import read_split
from blurb.extensions.reports import errors
from blurb.extensions.reports.errors.entities import pairs
from blurb.inputs.tagging import Span, decode_spans, tags
from blurb.messages.errors import BlurbError
from blurb.row_files.references import find_trial
from blurb.store.record import read_predictions
from blurb.store.store import Store
from tests.cli.in_process import done, ran
from tests.results.played import NAMES, play
from tests.scoring.test_forms import answers


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("errors") / "runs")
    play(store, "m", dict.fromkeys(NAMES, 0.7), (1, 2))
    return store


def record(store: Store, name: str) -> object:
    (path, _) = sorted(path for path in store.trial_folders() if path.parent.name == name)
    return store.read(path)


@pytest.mark.parametrize(
    ("gold", "predicted", "kinds"),
    [
        ([(0, 2, "X")], [(0, 2, "X")], ["correct"]),
        ([(0, 2, "X")], [(0, 3, "X")], ["boundary"]),
        ([(0, 2, "X")], [(0, 2, "Y")], ["type"]),
        ([(0, 2, "X")], [(1, 3, "Y")], ["boundary and type"]),
        ([(0, 2, "X")], [(3, 4, "X")], ["missed", "spurious"]),
        ([(0, 4, "X")], [(0, 1, "X"), (1, 4, "X")], ["boundary", "spurious"]),
        ([(0, 1, "X"), (1, 4, "X")], [(0, 4, "X")], ["boundary", "missed"]),
        ([(0, 4, "X"), (4, 5, "X")], [(0, 4, "X")], ["correct", "missed"]),
    ],
)
def test_kinds(
    gold: list[tuple[int, int, str]], predicted: list[tuple[int, int, str]], kinds: list[str]
) -> None:
    found = pairs([Span(*one) for one in gold], [Span(*one) for one in predicted])
    assert [kind for kind, _, _ in found] == kinds


def test_every_entity_of_both_sides_is_in_one_kind() -> None:
    rng = random.Random(0)
    for _ in range(300):
        sides = [
            decode_spans(rng.choices(["O", "O", "B-X", "I-X", "B-Y", "I-Y"], k=15))
            for _ in range(2)
        ]
        found = list(pairs(*sides))
        assert sorted(one for _, one, _ in found if one) == sorted(sides[0])
        assert sorted(one for _, _, one in found if one) == sorted(sides[1])
        counts = metrics.entity_counts(*[[tags(side, 15, "bio")] for side in sides])[0]
        assert [kind for kind, _, _ in found].count("correct") == counts[0]


@pytest.mark.parametrize("name", ["chemprot", "gad", "pubmedqa"])
def test_the_confusion_table(store: Store, name: str) -> None:
    one = record(store, name)
    report = errors.analyse(one, "test")  # type: ignore[arg-type]
    columns = read_predictions(one.path / "predictions.parquet", ("gold", "prediction"), "test")  # type: ignore[attr-defined]
    labels = list(tasks.get(name).labels)
    expected = confusion_matrix(columns["gold"], columns["prediction"], labels=labels)
    assert [list(row[1:]) for row in report.tables[0].rows] == expected.tolist()
    assert len(report.examples) == expected.sum() - expected.trace()


@pytest.mark.parametrize("name", NAMES)
def test_every_task_has_an_analysis_without_any_text(store: Store, name: str) -> None:
    report = errors.analyse(record(store, name), "test")  # type: ignore[arg-type]
    assert report.tables
    assert report.examples
    assert not any(example.text for example in report.examples)


def test_documents_are_counted_as_they_are_scored(store: Store) -> None:
    one = record(store, "hoc")
    rows = errors.analyse(one, "test").tables[0].rows  # type: ignore[arg-type]
    gold, predicted, right = (sum(int(str(row[place])) for row in rows) for place in (1, 2, 3))
    assert one.metrics["test"]["micro_f1"] == pytest.approx(2 * right / (gold + predicted))  # type: ignore[attr-defined]


RUN = shlex.split("run baseline:constant --suite demo --protocol smoke --tasks")


def run(tmp_path: Path, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["errors", *arguments, "--output", str(tmp_path / "runs")])
    return result.exit_code, result.output + str(result.exception or "")


@pytest.mark.costly
def test_text_only_where_it_is_asked_for(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gad", "ncbi-disease", "pubmedqa"):
        assert CliRunner().invoke(cli, [*RUN, name]).exit_code == 0
    folder = demo.prepare()
    common = ("baseline:constant", "--task", "gad", "--limit", "1000")
    mistake = next(csv.DictReader(run(here, *common, "--format", "csv")[1].splitlines()))["id"]
    texts = {row["id"]: row["text"] for row in read_split(tasks.get("gad"), folder, "test")}
    word = max(texts[mistake].split(), key=len)
    assert word not in run(here, *common)[1]
    assert word not in run(here, *common, "--data", str(folder))[1]  # a pipe
    assert "The text is left out" in run(here, *common, "--data", str(folder))[1]
    assert word in run(here, *common, "--data", str(folder), "--with-text")[1]
    plain = run(here, *common, "--data", str(folder), "--format", "csv")[1]
    assert "text" not in plain.splitlines()[0]
    assert word not in plain
    assert (
        "text"
        in run(here, *common, "--data", str(folder), "--format", "csv", "--with-text")[
            1
        ].splitlines()[0]
    )
    assert "reads the text from the data; add --data" in run(here, *common, "--with-text")[1]
    with monkeypatch.context() as patch:
        patch.setattr(errors, "sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))
        assert word in run(here, *common, "--data", str(folder))[1]
        assert word not in run(here, *common, "--data", str(folder), "--format", "csv")[1]
    seen = run(here, "baseline:constant", "--task", "ncbi-disease", "--data", str(folder))[1]
    assert "seen in train" in seen
    assert (
        "questions by their first word"
        in run(here, "baseline:constant", "--task", "pubmedqa", "--data", str(folder))[1]
    )


@pytest.mark.costly
@pytest.mark.parametrize("inputs", ["original", "dummies"])
def test_a_trial_shows_the_originals_if_it_ran_on_them(inputs: str, here: Path) -> None:
    ran([*RUN, "chemprot", *(["--relation-input", "original"] if inputs == "original" else [])])
    folder = str(demo.prepare())  # holds both
    common = ("baseline:constant", "--task", "chemprot", "--limit", "1000", "--with-text")
    output = run(here, *common, "--data", folder, "--raw", folder)[1]
    assert "other data" not in output
    assert ("@CHEMICAL$" in output) == (inputs == "dummies")
    data, raw = (run(here, *common, option, folder)[1] for option in ("--data", "--raw"))
    right, other = (raw, data) if inputs == "original" else (data, raw)
    assert "used other data" not in right
    assert "used other data" in other
    assert "@CHEMICAL$" in data
    assert "@CHEMICAL$" not in raw
    assert ("used the original releases, add --raw" in data) == (inputs == "original")


def test_data_that_are_neither_and_no_originals(here: Path) -> None:
    assert CliRunner().invoke(cli, [*RUN, "chemprot,gad"]).exit_code == 0
    demo.write(here / "other")
    path = here / "other" / tasks.get("chemprot").files["dev"]
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    common = ("baseline:constant", "--data", str(here / "other"), "--raw", str(here / "other"))
    output = run(here, *common, "--task", "chemprot", "--with-text")[1]
    assert "used other data" in output
    assert "@CHEMICAL$" in output  # the layout's, of which there is no better
    assert (
        "gad has no originals to read"
        in run(here, "baseline:constant", "--task", "gad", "--raw", str(here))[1]
    )


def test_a_task_file_that_is_not_at_hand_any_more(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = here / "my-qa.toml"
    path.write_text(
        'name = "my-qa"\ntype = "qa"\nlabels = ["yes", "no"]\nformat = { kind = "jsonl" }\n'
        'files = { train = "train.jsonl", dev = "train.jsonl", test = "train.jsonl" }\n'
    )
    rows = [
        {
            "id": str(n),
            "question": "is kalo mi ?",
            "context": "tra .",
            "label": "no" if n % 3 else "yes",
        }
        for n in range(9)
    ]
    (here / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran(["run", "baseline:majority", "--tasks", str(path), "--protocol", "smoke"])
    name = tasks.load(str(path)).name
    assert (
        f"baseline:majority: {name}, seed 1, test"
        in run(here, "baseline:majority", "--task", str(path))[1]
    )
    monkeypatch.setattr(tasks, "_files", {})  # as in another process, which did not read the file
    assert (
        f"baseline:majority: {name}, seed 1, test"
        in run(here, "baseline:majority", "--task", name)[1]
    )
    assert f"Did you mean '{name}'" in run(here, "baseline:majority", "--task", f"{name}x")[1]


# `blurb.errors` and `blurb.diff` have what the commands print as CSV, also of predictions of another tool.


TASKS = ("ncbi-disease", "gad", "biosses", "hoc")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tools with answers to four datasets."""
    folder = tmp_path_factory.mktemp("mistakes") / "runs"
    for name in TASKS:
        rows = read_split(tasks.get(name), demo.prepare(), "test")
        found = answers(name, rows)
        blurb.score(name, found, suite="demo", add="one", output=folder)
        blurb.score(name, found[::-1] if name in ("gad", "biosses") else [[*each] for each in gold(rows)], suite="demo",
                    add="other", output=folder, gold_as_predictions=True)  # fmt: skip
    return folder


def gold(rows: list[dict[str, list[str]]]) -> list[list[str]]:
    return [row["tags"] if "tags" in row else row["labels"] for row in rows]


def printed(folder: Path, *words: str) -> pandas.DataFrame:
    out = done([*words, "--format", "csv", "--output", str(folder)], folder.parent)
    return pandas.read_csv(io.StringIO(out), keep_default_na=False, dtype=str)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("text", [False, True])
def test_they_are_the_tables_of_the_commands(name: str, text: bool, tools: Path) -> None:
    data = demo.prepare() if text else None
    asked = ["--data", str(data), "--with-text"] if text else []
    for table, words in (
        (blurb.errors("one", name, data=data, output=tools), ["errors", "one"]),
        (blurb.diff("one", "other", name, data=data, output=tools), ["diff", "one", "other"]),
    ):
        there = printed(tools, *words, "--task", name, *asked)
        assert list(table.columns) == list(there.columns)
        assert len(table) == len(there) > 0
        for column in table.columns:
            assert [
                f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in table[column]
            ] == list(there[column])


def test_they_are_chosen_as_in_any_table(tools: Path) -> None:
    table = blurb.diff("one", "other", "ncbi-disease", output=tools)
    assert set(table[table.outcome == "only B right"].kind_b) == {"right"}


def test_text_of_other_data_is_doubted(tools: Path, tmp_path: Path) -> None:
    golden = Path(__file__).parents[2] / "golden" / "data"
    with pytest.warns(UserWarning, match="The trial used other data than this"):
        blurb.errors("one", "gad", data=golden, output=tools)


def test_the_confusion_of_classes_is_that_of_scikit_learn(tools: Path) -> None:
    record = find_trial("other", tools, "gad", None)
    columns = record.predictions("test")
    table = blurb.confusion("other", "gad", output=tools)
    assert list(table.index) == list(table.columns) == list(record.task.labels)
    expected = confusion_matrix(columns["gold"], columns["prediction"], labels=record.task.labels)
    assert table.to_numpy().tolist() == expected.tolist()


def test_the_confusion_of_entities_has_every_one_once(tools: Path) -> None:
    columns = find_trial("one", tools, "ncbi-disease", None).predictions("test")
    right, given = (
        sum(tag[0] == "B" for tags in columns[name] for tag in tags)
        for name in ("gold", "prediction")
    )
    table = blurb.confusion("one", "ncbi-disease", output=tools)
    assert (table.loc["Disease"].sum(), table["Disease"].sum(), table.loc["none", "none"]) == (
        right,
        given,
        0,
    )
    missed = blurb.errors("one", "ncbi-disease", output=tools).kind.value_counts()
    assert table.loc["Disease", "none"] == missed.get("missed", 0)
    assert table.loc["none", "Disease"] == missed.get("spurious", 0)


@pytest.mark.parametrize("name", ["biosses", "hoc"])
def test_of_numbers_and_several_labels_there_is_none(name: str, tools: Path) -> None:
    with pytest.raises(BlurbError, match="there is no confusion matrix"):
        blurb.confusion("one", name, output=tools)
