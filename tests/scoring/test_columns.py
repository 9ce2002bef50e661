"""The column of predictions is never guessed, and every value has its final form before it is compared.

Oracle of the scores: all answers of these files are wrong, or all are right.
"""

import csv
import datetime
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pyarrow.parquet
import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.messages.errors import BlurbError, DataError
from blurb.scoring.columns import answer_column
from tests.cli.in_process import blurb as command, done
from tests.scoring import unscored

Rows = list[dict[str, Any]]
GAD = read_split(tasks.get("gad"), demo.prepare(), "test")
NER = read_split(tasks.get("ncbi-disease"), demo.prepare(), "test")
WRONG = {"0": "1", "1": "0"}


def jsonl(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def table(separator: str) -> Callable[[Rows], bytes]:
    def written(rows: Rows) -> bytes:
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0], delimiter=separator, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode()

    return written


def parquet(rows: Rows) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), sink)
    return sink.getvalue()


FORMS: Mapping[str, Callable[[Rows], Any]] = {
    "a.jsonl": jsonl,
    "a.tsv": table("\t"),
    "a.csv": table(","),
    "a.parquet": parquet,
    "a frame": pandas.DataFrame,
    "records": list,
    "columns": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
}


def given(form: str, rows: Rows, folder: Path) -> Any:
    """Rows in a form: a file, or an object of Python."""
    content = FORMS[form](rows)
    if not isinstance(content, bytes):
        return content
    (folder / form).write_bytes(content)
    return folder / form


def rows_with(**columns: Callable[[str], Any]) -> Rows:
    """The test examples of GAD with these columns of the gold label beside their ids."""
    return [
        {"id": row["id"], **{name: of(row["label"]) for name, of in columns.items()}} for row in GAD
    ]


def refused(task: str, predictions: Any, said: str, **more: Any) -> None:
    unscored(task, predictions, said, DataError, **more)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name", ["prediction", "predictions", "pred_label", "y_pred", "Predicted", "output", "y-pred"]
)
def test_a_column_of_predictions_is_never_passed_over_for_gold(
    name: str, form: str, tmp_path: Path
) -> None:
    rows = rows_with(label=str, **{name: WRONG.__getitem__})
    (score,) = blurb.score("gad", given(form, rows, tmp_path), suite="demo")
    assert score.score == 0.0
    assert not any("read from the column" in remark for remark in score.remarks)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "names",
    [
        ("label", "model_output"),
        ("label", "y_hat"),
        (
            "label",
            "score",
        ),  # of a pipeline of transformers: the label that it predicts, and how sure it is
        ("label", "labels"),
        ("pred_a", "pred_b"),
        ("pred_a", "output"),
        ("label", "pred_a", "pred_b"),
        ("system",),
    ],
)
def test_names_that_leave_a_question_are_refused_with_the_names(
    names: Sequence[str], form: str, tmp_path: Path
) -> None:
    rows = rows_with(**dict.fromkeys(names, str))
    with pytest.raises(DataError, match="no column is surely that of the predictions") as caught:
        blurb.score("gad", given(form, rows, tmp_path), suite="demo")
    assert all(name in str(caught.value) for name in names)
    (score,) = blurb.score("gad", given(form, rows, tmp_path), suite="demo", column=names[-1])
    assert score.score == 100.0


@pytest.mark.parametrize("name", [None, "id", "guid"])
def test_ids_in_the_index_of_pandas_are_ids(name: str | None) -> None:
    """In another order than the examples, which only the index says."""
    ids, labels = [row["id"] for row in GAD][::-1], [row["label"] for row in GAD][::-1]
    index = pandas.Index(ids, name=name)
    column, frame = pandas.Series(labels, index), pandas.DataFrame({"prediction": labels}, index)
    for given in (column, frame, column.rename("y_pred"), frame.rename_axis("example_id")):
        (score,) = blurb.score("gad", given, suite="demo")
        assert (score.score, score.matched) == (100.0, "by id")
    assert blurb.score("gad", pandas.Series(labels[::-1]), suite="demo")[0].matched == "by order"


def test_columns_of_a_type_of_ones_own_hold_no_answers() -> None:
    names = ["id", "claim", "evidence", "label"]
    assert answer_column(names, Path("a"), inputs=["claim", "evidence"]) == "label"
    with pytest.raises(DataError, match="present: id, claim, evidence, label"):
        answer_column(names, Path("a"))


def test_a_column_is_chosen_for_the_whole_file() -> None:
    """One line without the column that all others have is no reason to take another one there."""
    rows = rows_with(label=str, prediction=WRONG.__getitem__)
    del rows[3]["prediction"]
    refused("gad", rows, "predictions:4: the column 'prediction' is missing")


@pytest.mark.parametrize("form", FORMS)
def test_gold_names_alone_are_told(form: str, tmp_path: Path) -> None:
    rows: Rows = [{"id": row["id"], "text": row["text"], "label": row["label"]} for row in GAD]
    (score,) = blurb.score("gad", given(form, rows, tmp_path), suite="demo")
    assert score.score == 100.0
    assert score.remarks[1:3] == [
        "read from the column 'label'; call that of the predictions 'prediction'",
        "ALL ANSWERS ARE EQUAL TO THE GOLD ANSWERS: these are hardly predictions",
    ]


@pytest.mark.parametrize("form", ["a.jsonl", "a.tsv", "a.csv", "a.parquet", "a frame"])
def test_columns_of_one_name_are_refused(form: str, tmp_path: Path) -> None:
    rows = rows_with(prediction=str, Prediction=WRONG.__getitem__)
    refused("gad", given(form, rows, tmp_path), "two columns have the name")


def test_two_columns_prediction_in_parquet_are_refused(tmp_path: Path) -> None:
    cells = [
        pyarrow.array([row["label"] for row in GAD]),
        pyarrow.array([WRONG[row["label"]] for row in GAD]),
    ]
    pyarrow.parquet.write_table(
        pyarrow.Table.from_arrays(cells, ["prediction", "prediction"]), tmp_path / "a.parquet"
    )
    refused("gad", tmp_path / "a.parquet", "two columns have the name 'prediction'")


def test_gold_answers_are_stored_only_if_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(jsonl(rows_with(prediction=str)))
    asked = [
        "score",
        "--suite",
        "demo",
        "--task",
        "gad",
        "--predictions",
        "a.jsonl",
        "--add",
        "mine",
    ]
    code, out, err = command(asked, tmp_path)
    assert (code, out) == (2, "")
    assert f"a.jsonl: all {len(GAD)} answers are equal to the gold answers of test" in " ".join(
        err.split()
    )
    assert not (tmp_path / "runs").exists()
    out = done([*asked, "--gold-as-predictions"], tmp_path)
    assert "ALL ANSWERS ARE EQUAL TO THE GOLD ANSWERS" in out
    dev = [row["label"] for row in read_split(tasks.get("gad"), demo.prepare(), "dev")]
    refused(
        "gad",
        ["1"] * len(GAD),
        "equal to the gold answers of dev",
        add="other",
        dev=dev,
        output=tmp_path / "runs",
    )


@pytest.mark.parametrize("name", ["ncbi-disease", "ebm-pico", "hoc", "biosses"])
def test_gold_answers_of_every_kind_are_known(name: str) -> None:
    rows = read_split(tasks.get(name), demo.prepare(), "test")
    column = next(each for each in ("tags", "labels", "score") if each in rows[0])
    gold = [row[column][::-1] if column == "labels" else row[column] for row in rows]
    (score,) = blurb.score(name, gold, suite="demo")
    assert score.is_gold
    assert score.score == pytest.approx(100.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spelt", [" ".join, json.dumps, str])
def test_tags_in_one_text_are_counted_before_they_are_compared(
    spelt: Callable[[Any], str], form: str, tmp_path: Path
) -> None:
    if (form, spelt) == ("a.tsv", json.dumps):
        return  # a TSV file has no quoting, and this writer quotes
    whole: Rows = [{"id": row["id"], "prediction": spelt(row["tags"])} for row in NER]
    (score,) = blurb.score("ncbi-disease", given(form, whole, tmp_path), suite="demo")
    assert score.score == 100.0
    whole[7]["prediction"] = spelt(NER[7]["tags"][:-1])
    place = 9 if form in ("a.tsv", "a.csv") else 8
    words = len(NER[7]["tokens"])
    refused(
        "ncbi-disease",
        given(form, whole, tmp_path),
        rf":{place}: {words - 1} tags, but {NER[7]['id']} has {words} words",
    )


HOSTILE: Mapping[str, Any] = {
    "a list in probabilities": {"1": [1]},
    "400 digits in probabilities": {"1": 10**400},
    "400 digits": 10**400,
    "nesting": "[" * 200_000,
    "a nested list": [[[["1"]]]],
    "a mapping": {"a": {"b": 1}},
    "nothing": None,
    "a truth value": True,
    "a date": datetime.date(1, 1, 1),
    "empty": "",
}


@pytest.mark.parametrize("task", ["gad", "hoc", "biosses", "ncbi-disease"])
@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_value_is_one_error_with_its_place(value: str, task: str, tmp_path: Path) -> None:
    rows = read_split(tasks.get(task), demo.prepare(), "test")
    column = next(each for each in ("tags", "labels", "score", "label") if each in rows[0])
    answers: Rows = [{"id": row["id"], "prediction": row[column]} for row in rows]
    answers[1]["prediction"] = HOSTILE[value]
    if (value, task) == ("empty", "hoc"):
        return  # no label
    content = "".join(json.dumps(row, default=str) + "\n" for row in answers)
    (tmp_path / "a.jsonl").write_text(content)
    for form in (tmp_path / "a.jsonl", answers):
        with pytest.raises(BlurbError) as caught:
            blurb.score(task, form, suite="demo")
        assert type(caught.value) is DataError
        assert ":2: " in str(caught.value)
        assert len(str(caught.value)) < 800


@pytest.mark.parametrize("kind", [pyarrow.timestamp("s"), pyarrow.date32(), pyarrow.duration("s")])
def test_dates_beyond_those_of_python_in_parquet(kind: Any, tmp_path: Path) -> None:
    far = 2**31 - 1 if kind == pyarrow.date32() else 2**52
    cells = pyarrow.array(
        [0] * (len(GAD) - 1) + [far],
        pyarrow.int32() if kind == pyarrow.date32() else pyarrow.int64(),
    )
    columns = {"id": [row["id"] for row in GAD], "prediction": cells.cast(kind)}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    refused("gad", tmp_path / "a.parquet", r"a\.parquet")


def test_a_small_parquet_file_does_not_fill_the_memory(tmp_path: Path) -> None:
    """A hundred million rows, and texts of a hundred million letters, in less than a megabyte each."""
    many, long = tmp_path / "many.parquet", tmp_path / "long.parquet"
    part = pyarrow.table({"id": ["x"] * 1_000_000, "prediction": ["1"] * 1_000_000})
    with pyarrow.parquet.ParquetWriter(many, part.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(part)
    answer = pyarrow.array(["1" * 30_000_000])
    rows = {"id": ["x"] * 30, "prediction": pyarrow.DictionaryArray.from_arrays([0] * 30, answer)}
    pyarrow.parquet.write_table(pyarrow.table(rows), long, compression="zstd")
    before = pyarrow.default_memory_pool().max_memory()
    for path in (many, long):
        assert path.stat().st_size < 1_000_000
        refused("gad", path, r"at most [\d,]+ are expected|when it is unpacked")
    assert pyarrow.default_memory_pool().max_memory() - before < 300_000_000


def test_probabilities_without_names_of_columns(tmp_path: Path) -> None:
    """As `run_re.py` of BioBERT writes them: no ids and no labels."""
    (tmp_path / "a.tsv").write_text("0.844422\t0.155578\n" * len(GAD))
    refused(
        "gad", tmp_path / "a.tsv", r"a\.tsv:1: two numbers from 0 to 1 are no id and prediction"
    )


def test_a_column_of_conll_is_chosen_by_its_number(tmp_path: Path) -> None:
    blocks = [
        "".join(f"{word}\t{tag}\tO\n" for word, tag in zip(row["tokens"], row["tags"], strict=True))
        for row in NER
    ]
    (tmp_path / "a.conll").write_text("\n".join(blocks))
    scores = [
        blurb.score("ncbi-disease", tmp_path / "a.conll", suite="demo", column=c)[0].score
        for c in (None, "1")
    ]
    assert scores == [0.0, 100.0]
    refused(
        "ncbi-disease", tmp_path / "a.conll", "the columns of CoNLL have no names", column="gold"
    )
