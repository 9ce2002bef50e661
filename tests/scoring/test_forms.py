"""Predictions in every form that is read. Oracles: seqeval, scikit-learn, scipy; the same answers in another form."""

import csv
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import seqeval.metrics
from scipy.stats import pearsonr
from sklearn.metrics import accuracy_score, f1_score

from blurb import formulations, tasks
from blurb.api.scoring import score
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.data.schema import Example
from blurb.inputs import tagging

TASKS = [task.name for task in tasks.all() if task.paper_order]
WORDS = [name for name in TASKS if "tokens" in tasks.get(name).task_type.columns]


@pytest.fixture(scope="module")
def data() -> Path:
    return demo.prepare()


def answers(name: str, rows: Sequence[Example]) -> list[Any]:
    """Answers of which some are wrong, as the formulation of the task predicts them."""
    draw = random.Random(name)
    task = tasks.get(name)
    found: list[Any] = []
    for row in rows:
        if "tags" in row:
            kept = [tag if draw.random() < 0.9 else "O" for tag in row["tags"]]
            found.append(
                tagging.convert_tags(kept, "bio", "bio") if task.task_type.borders else kept
            )
        elif "labels" in row:
            found.append([label for label in row["labels"] if draw.random() < 0.8])
        elif "score" in row:
            found.append(round(row["score"] + draw.gauss(0, 0.4), 3))
        else:
            found.append(row["label"] if draw.random() < 0.7 else draw.choice(task.labels))
    return found


def text(answer: Any) -> str:
    """An answer as a cell of a table."""
    return (
        ("|" if answer and not answer[0].startswith(("B-", "I-", "O")) else " ").join(answer)
        if isinstance(answer, list)
        else str(answer)
    )


def jsonl(path: Path, rows: Sequence[Example], found: Sequence[Any]) -> None:
    lines = [
        json.dumps({"id": row["id"], "prediction": answer})
        for row, answer in zip(rows, found, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")


def submission(path: Path, rows: Sequence[Example], found: Sequence[Any]) -> None:
    path.write_text(
        json.dumps(
            {"predictions": {row["id"]: each for row, each in zip(rows, found, strict=True)}}
        )
    )


def table(path: Path, rows: Sequence[Example], found: Sequence[Any]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(
            file, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n"
        )
        writer.writerow(["id", "gold_label", "prediction"])
        writer.writerows([row["id"], "", text(each)] for row, each in zip(rows, found, strict=True))


def parquet(path: Path, rows: Sequence[Example], found: Sequence[Any]) -> None:
    columns = {"id": [row["id"] for row in rows], "prediction": list(found)}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


FORMS: dict[str, Callable[[Path, Sequence[Example], Sequence[Any]], None]] = {
    "a.jsonl": jsonl,
    "a.json": submission,
    "a.tsv": table,
    "a.csv": table,
    "a.parquet": parquet,
}


def expected(name: str, rows: Sequence[Example], found: Sequence[Any]) -> float:
    """The score by other implementations, times 100."""
    task = tasks.get(name)
    if task.type == "ner":
        return 100 * float(seqeval.metrics.f1_score([row["tags"] for row in rows], list(found)))
    if "tags" in rows[0]:
        gold, predicted = (
            [tag[2:] for each in side for tag in each]
            for side in ([r["tags"] for r in rows], found)
        )
        return 100 * float(f1_score(gold, predicted, labels=list(task.labels), average="macro"))
    if "score" in rows[0]:
        clipped = [min(4.0, max(0.0, each)) for each in found]
        return 100 * float(pearsonr([row["score"] for row in rows], clipped).statistic)
    if "labels" in rows[0]:  # by abstract
        formulation = formulations.bind(task)
        documents = [row["doc_id"] for row in rows]
        return 100 * formulation.main_metric(
            formulation.score([row["labels"] for row in rows], found, documents)
        )
    gold = [row["label"] for row in rows]
    if "negative" in task.metric_options:
        kept = [label for label in task.labels if label != task.metric_options["negative"]]
        return 100 * float(f1_score(gold, found, labels=kept, average="micro"))
    if "positive" in task.metric_options:
        return 100 * float(
            f1_score(gold, found, pos_label=str(task.metric_options["positive"]), average="binary")
        )
    return 100 * float(accuracy_score(gold, found))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", TASKS)
def test_a_form_gives_the_score_of_the_answers(
    name: str, form: str, data: Path, tmp_path: Path
) -> None:
    rows = read_split(tasks.get(name), data, "test")
    found = answers(name, rows)
    FORMS[form](tmp_path / form, rows, found)
    scored = score(name, tmp_path / form, suite="demo")[name]
    assert scored.score == pytest.approx(expected(name, rows, found), abs=1e-9)
    assert scored.examples == len(rows)
    assert scored.matched == "by id"
    assert scored.interval[0] <= scored.score <= scored.interval[1]


@pytest.mark.parametrize("name", TASKS)
def test_a_script_gives_them_in_order_or_by_id(name: str, data: Path) -> None:
    rows = read_split(tasks.get(name), data, "test")
    found = answers(name, rows)
    by_id = {row["id"]: answer for row, answer in zip(reversed(rows), reversed(found), strict=True)}
    one, other = (score(name, given, suite="demo")[0] for given in (found, by_id))
    assert one.score == other.score == pytest.approx(expected(name, rows, found), abs=1e-9)
    assert one.predictions == other.predictions
    assert (one.matched, other.matched) == ("by order", "by id")
    assert any("matched by order alone" in remark for remark in one.remarks)


def iob1(tags: Sequence[str]) -> list[str]:
    """B only where an entity follows another one of its type at once."""
    return [
        f"I{tag[1:]}"
        if tag.startswith("B-") and (place == 0 or tags[place - 1][2:] != tag[2:])
        else tag
        for place, tag in enumerate(tags)
    ]


SCHEMES: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "bio": list,
    "iob1": iob1,
    "bioul": lambda tags: tagging.convert_tags(tags, "bio", "bioul"),
    "iobes": lambda tags: [
        tag.replace("L-", "E-", 1).replace("U-", "S-", 1)
        for tag in tagging.convert_tags(tags, "bio", "bioul")
    ],
    "bare letters": lambda tags: [tag[0] for tag in tags],
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", [name for name in WORDS if tasks.get(name).task_type.borders])
def test_tags_of_any_scheme_in_conll(name: str, scheme: str, data: Path, tmp_path: Path) -> None:
    rows = read_split(tasks.get(name), data, "test")
    found = answers(name, rows)
    if scheme == "bare letters" and len(tasks.get(name).labels) > 1:
        pytest.skip("letters say nothing of several types")
    blocks = [
        "".join(
            f"{word} NN {tag}\n"
            for word, tag in zip(row["tokens"], SCHEMES[scheme](tags), strict=True)
        )
        for row, tags in zip(rows, found, strict=True)
    ]
    (tmp_path / "a.conll").write_text("-DOCSTART- -X- O\n\n" + "\n".join(blocks))
    scored = score(name, tmp_path / "a.conll", suite="demo")[0]
    assert scored.score == pytest.approx(expected(name, rows, found), abs=1e-9)
    assert scored.matched == "by order and words"
    assert scored.figures["strict_f1"] == pytest.approx(scored.score, abs=1e-9)


def test_a_submission_of_pico_has_whole_abstracts(data: Path, tmp_path: Path) -> None:
    rows = read_split(tasks.get("ebm-pico"), data, "test")
    found = answers("ebm-pico", rows)
    whole: dict[str, list[str]] = {}
    for row, tags in zip(rows, found, strict=True):
        whole.setdefault(row["doc_id"], []).extend(tags)
    (tmp_path / "a.json").write_text(json.dumps({"dataset_name": "EBM PICO", "predictions": whole}))
    assert score("ebm-pico", tmp_path / "a.json", suite="demo")[0].score == pytest.approx(
        expected("ebm-pico", rows, found), abs=1e-9
    )


def test_a_submission_of_hoc_has_short_names_and_a_tool_may_answer_by_abstract(
    data: Path, tmp_path: Path
) -> None:
    task = tasks.get("hoc")
    rows = read_split(task, data, "test")
    found = answers("hoc", rows)
    short = {
        row["id"]: [task.short_labels[label] for label in labels]
        for row, labels in zip(rows, found, strict=True)
    }
    (tmp_path / "a.json").write_text(json.dumps({"dataset_name": "HoC", "predictions": short}))
    by_sentence = score("hoc", tmp_path / "a.json", suite="demo")[0]
    whole: dict[str, list[str]] = {}
    for row, labels in zip(rows, found, strict=True):
        whole.setdefault(row["doc_id"], []).extend(labels)
    by_abstract = score(
        "hoc", {doc: sorted(set(labels)) for doc, labels in whole.items()}, suite="demo"
    )[0]
    assert (
        by_sentence.score
        == by_abstract.score
        == pytest.approx(expected("hoc", rows, found), abs=1e-9)
    )
    assert by_abstract.examples == len(whole) < by_sentence.examples


def test_labels_by_a_mapping(data: Path, tmp_path: Path) -> None:
    rows = read_split(tasks.get("chemprot"), data, "test")
    found = answers("chemprot", rows)
    numbers = {label: str(place) for place, label in enumerate(tasks.get("chemprot").labels)}
    table(tmp_path / "a.csv", rows, [numbers[label] for label in found])
    names = {number: label for label, number in numbers.items()}
    scored = score("chemprot", tmp_path / "a.csv", suite="demo", names=names)[0]
    assert scored.score == pytest.approx(expected("chemprot", rows, found), abs=1e-9)
