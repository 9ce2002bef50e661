"""A trial, its names and provenance. Oracles: hashlib over the text that the docstring promises; content by hand."""

import hashlib
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from blurb import learners, tasks
from blurb.messages.errors import StoreError
from blurb.store import record
from blurb.store.trial import LATER, PROVENANCE, Configuration, Provenance, Trial, read_provenance
from blurb.tasks._file import READER
from tests.store.fakes import CONFIGURATION, trial


def test_the_hash_is_over_the_sorted_content_without_what_came_later() -> None:
    one = trial(settings={"b": 1, "a": "é"})
    content = {
        "data": "d",
        "precision": "fp32",
        "recipe": 1,
        "seed": 1,
        "settings": {"a": "é", "b": 1},
        "task": "gad",
        "tokenizer": "t",
        "weights": "w" * 64,
    }
    text = json.dumps(content, separators=(",", ":"))  # written in alphabetical order above
    assert (one.hash, one.content) == (hashlib.sha256(text.encode()).hexdigest()[:16], content)
    assert set(LATER) == {field.name for field in fields(Trial)} - set(content)


@pytest.mark.parametrize("change", [{"learner": "probe"}, {"plugins": {"head": "0f"}}])
def test_what_came_later_is_there_once_it_says_something(change: dict[str, Any]) -> None:
    assert replace(trial(), **change).content == {**trial().content, **change}
    assert replace(trial(), **change).hash != trial().hash


def test_seeds_of_one_kind_are_a_family() -> None:
    assert {trial(seed=seed).family for seed in (1, 2, 3)} == {trial(seed=0).hash}
    others = (
        {"data": "e"},
        {"settings": {"lr": 1.0}},
        {"recipe": 2},
        {"learner": "probe"},
        {"task": "ddi"},
    )
    assert len({trial(**change).family for change in others} | {trial().family}) == len(others) + 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("weights", "learner", "kind"),
    [
        ("baseline:majority", "", "baseline"),
        ("f" * 64, "", "encoder"),
        ("f" * 64, "probe", "probe"),
    ],
)
def test_what_learned_follows_from_the_weights_or_is_said(
    weights: str, learner: str, kind: str
) -> None:
    found = trial(weights=weights, learner=learner).kind
    assert found.rows.name == learners.row_name(weights, learner) == kind
    assert learners.in_trial(found) == learner


def test_a_configuration_is_printed_with_its_overrides_in_order() -> None:
    made = replace(CONFIGURATION, overrides={"lr": 0.1, "head": "crf", "epochs": 3})
    assert made.text == "quick epochs=3 head=crf lr=0.1"
    assert made.overrides_text == "epochs=3 head=crf lr=0.1"
    assert replace(made, overrides={}).text == "quick"
    assert replace(made, protocol="", overrides={}).text == ""


def test_words_of_a_protocol_make_no_other_configuration() -> None:
    reworded = replace(CONFIGURATION, note="other words")
    assert (reworded, reworded.identity) == (CONFIGURATION, CONFIGURATION.identity)
    assert "note" not in CONFIGURATION.identity
    for change in (
        {"protocol_hash": "1"},
        {"overrides": {}},
        {"precision": "bf16"},
        {"suite": "demo"},
    ):
        assert replace(CONFIGURATION, **change) != CONFIGURATION


@pytest.mark.parametrize(
    ("protocol", "from_file"),
    [
        ("quick", False),
        ("quick@2", False),
        ("quick@9999", False),
        ("mine@0123abcd", True),
        ("a@b@0123abcd", True),
        ("mine@0123abc", False),
        ("mine@0123ABCD", False),
        ("quick@12345678", True),
    ],
)
def test_a_file_is_told_from_a_version_by_its_digits(protocol: str, from_file: bool) -> None:
    assert Configuration(protocol, "", {}, "", "blurb").from_file is from_file


def test_what_is_written_is_read(tmp_path: Path) -> None:
    configuration = Configuration("quick@2", "0" * 64, {"lr": 0.1}, "bf16", "blurb", "a note")
    facts = {
        "train_seconds": 2.5,
        "train_units": 64,
        "features_version": 6,
        "train_inputs": {"truncated": 3},
    }
    made = Provenance(
        "identical", "m", None, 7, configuration, "2026-01-31T12:00:00Z", facts, {"torch": "2"}
    )
    (tmp_path / PROVENANCE).write_text(json.dumps(made.content), encoding="utf-8")
    again = read_provenance(tmp_path)
    assert again == made
    assert (again.train_seconds, again.train_units) == (2.5, 64)
    assert (again.truncated("train"), again.truncated("dev"), again.predict_seconds) == (
        3,
        None,
        None,
    )
    assert "declaration" not in made.content


def test_a_task_of_a_file_is_that_of_then() -> None:
    declared = {**vars(tasks.get("gad")), "name": "mine", "file": "gone.toml", "labels": ["0", "1"]}
    # Its code is none that it names
    then = tasks.Task(**{**declared, "reader": READER, "builder": "", "source": None})
    assert Provenance(declaration=declared).task("mine") == then
    assert Provenance().task("gad") is tasks.get("gad")


def test_what_nobody_said_is_not_known() -> None:
    assert Provenance().truncated("test") is None
    assert Provenance(facts={"train_seconds": float("nan")}).train_seconds is None


@pytest.mark.parametrize(
    "content", ["", "[]", '{"facts": [1]}', '{"environment": 3}', '{"configuration": {"x": 1}}']
)
def test_damage_is_told_with_the_file(tmp_path: Path, content: str) -> None:
    (tmp_path / PROVENANCE).write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match=r"provenance\.json"):
        read_provenance(tmp_path)


# Stored answers are held against the type of their task before anything reads them.


NER, CLASSES, DOCUMENTS, NUMBERS = "bc5-chem", "gad", "hoc", "biosses"
LABEL = tasks.get(DOCUMENTS).labels[0]
FIT: list[tuple[str, Any, Any]] = [
    (NER, ["B-Chemical", "O"], ["O", "I-Chemical"]),
    (NER, [], []),
    (CLASSES, "1", "0"),
    (DOCUMENTS, [LABEL], []),
    (NUMBERS, 1.0, -3.5),
]
UNFIT: list[tuple[str, Any, Any]] = [
    (NER, ["B-Chemical"], ["O", "O"]),
    (NER, ["X"], ["O"]),
    (NER, "O", "O"),
    (NER, [["O"]], [["O"]]),
    (NER, [None], ["O"]),
    (NER, None, None),
    (CLASSES, 1, 1),
    (CLASSES, ["1"], ["1"]),
    (CLASSES, "1", None),
    (DOCUMENTS, LABEL, LABEL),
    (DOCUMENTS, [1], []),
    (NUMBERS, 1.0, float("nan")),
    (NUMBERS, "1", "1"),
    (NUMBERS, 1.0, None),
    (NUMBERS, True, 1.0),
]


def _check(task: str, gold: Any, prediction: Any, unit: Any = "a", document: Any = None) -> None:
    columns = {"id": [unit], "doc_id": [document], "gold": [gold], "prediction": [prediction]}
    record.check(tasks.get(task), columns, Path("trial"))


@pytest.mark.parametrize(("task", "gold", "prediction"), FIT)
def test_answers_of_a_type(task: str, gold: Any, prediction: Any) -> None:
    _check(task, gold, prediction, document="d")


TYPES = r"^trial: the predictions \(.*(gold|prediction).*\) are not those of a task"


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        *((case, TYPES) for case in UNFIT),
        *(
            ((CLASSES, "1", "1", *ids), r"the predictions \((id|doc_id)\)")
            for ids in ((1, None), (["a"], None), (None, None), ("a", 2))
        ),
    ],
)
def test_answers_of_another_type_and_ids_that_are_no_texts(
    answers: tuple[Any, ...], told: str
) -> None:
    with pytest.raises(StoreError, match=told):
        _check(*answers)
