"""`blurb.errors` and `blurb.diff` have what the commands print as CSV, also of predictions of another tool."""

from __future__ import annotations

import io
from pathlib import Path

import pandas
import pytest
from sklearn.metrics import confusion_matrix

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.messages.errors import BlurbError
from blurb.row_files.references import find_trial
from tests.cli.in_process import done
from tests.scoring.test_forms import answers

TASKS = ("ncbi-disease", "gad", "biosses", "hoc")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def test_they_are_the_tables_of_the_commands(name: str, text: bool, store: Path) -> None:
    data = demo.prepare() if text else None
    asked = ["--data", str(data), "--with-text"] if text else []
    for table, words in (
        (blurb.errors("one", name, data=data, output=store), ["errors", "one"]),
        (blurb.diff("one", "other", name, data=data, output=store), ["diff", "one", "other"]),
    ):
        there = printed(store, *words, "--task", name, *asked)
        assert list(table.columns) == list(there.columns)
        assert len(table) == len(there) > 0
        for column in table.columns:
            assert [
                f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in table[column]
            ] == list(there[column])


def test_they_are_chosen_as_in_any_table(store: Path) -> None:
    table = blurb.diff("one", "other", "ncbi-disease", output=store)
    assert set(table[table.outcome == "only B right"].kind_b) == {"right"}


def test_text_of_other_data_is_doubted(store: Path, tmp_path: Path) -> None:
    golden = Path(__file__).parents[2] / "golden" / "data"
    with pytest.warns(UserWarning, match="The trial used other data than this"):
        blurb.errors("one", "gad", data=golden, output=store)


def test_the_confusion_of_classes_is_that_of_scikit_learn(store: Path) -> None:
    record = find_trial("other", store, "gad", None)
    columns = record.predictions("test")
    table = blurb.confusion("other", "gad", output=store)
    assert list(table.index) == list(table.columns) == list(record.task.labels)
    expected = confusion_matrix(columns["gold"], columns["prediction"], labels=record.task.labels)
    assert table.to_numpy().tolist() == expected.tolist()


def test_the_confusion_of_entities_has_every_one_once(store: Path) -> None:
    columns = find_trial("one", store, "ncbi-disease", None).predictions("test")
    right, given = (
        sum(tag[0] == "B" for tags in columns[name] for tag in tags)
        for name in ("gold", "prediction")
    )
    table = blurb.confusion("one", "ncbi-disease", output=store)
    assert (table.loc["Disease"].sum(), table["Disease"].sum(), table.loc["none", "none"]) == (
        right,
        given,
        0,
    )
    missed = blurb.errors("one", "ncbi-disease", output=store).kind.value_counts()
    assert table.loc["Disease", "none"] == missed.get("missed", 0)
    assert table.loc["none", "Disease"] == missed.get("spurious", 0)


@pytest.mark.parametrize("name", ["biosses", "hoc"])
def test_of_numbers_and_several_labels_there_is_none(name: str, store: Path) -> None:
    with pytest.raises(BlurbError, match="there is no confusion matrix"):
        blurb.confusion("one", name, output=store)
