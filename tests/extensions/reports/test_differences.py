"""Where two trials differ: every count against a plain loop over both predictions, and no text unasked."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from blurb import tasks
from blurb.extensions.reports.differences import differences
from blurb.extensions.reports.differences.answers import (
    OUTCOME,
    Difference,
    bracketed,
    character_pieces,
    compared,
    in_order,
    pieces_of,
    shortened,
)
from blurb.inputs.tagging import Span, decode_spans
from blurb.messages.errors import SettingsError
from blurb.store.record import Record
from blurb.store.store import Store
from tests.results.played import play
from tests.store import fakes

NAMES = ("ncbi-disease", "ebm-pico", "chemprot", "biosses", "hoc", "pubmedqa")
"""One dataset of each type."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("differences") / "runs")
    play(store, "m", dict.fromkeys(NAMES, 0.8), (1,))
    play(store, "n", dict.fromkeys(NAMES, 0.4), (1,))
    play(store, "elsewhere", {"hoc": 0.5}, (1,), data="e")
    return store


def record(store: Store, model: str, name: str) -> Record:
    (path,) = (store.root / model / name).glob("[!.]*")
    return store.read(path)


def answers(store: Store, name: str) -> list[tuple[str, Any, Any, Any]]:
    """Id, gold, and the answers of both."""
    a, b = (record(store, model, name).predictions("test") for model in "mn")
    assert a["id"] == b["id"]
    return list(zip(a["id"], a["gold"], a["prediction"], b["prediction"], strict=True))


def outcome(gold: Any, a: Any, b: Any) -> str:
    if a == gold:
        return "only A right"
    return "only B right" if b == gold else "both wrong"


@pytest.mark.parametrize("name", ["chemprot", "pubmedqa", "hoc"])
def test_answers_that_are_right_or_wrong(store: Store, name: str) -> None:
    found = differences(record(store, "m", name), record(store, "n", name))
    expected = {unit: outcome(gold, a, b) for unit, gold, a, b in answers(store, name) if a != b}
    assert {one.id: one.outcome for one in found.examples} == expected
    assert set(expected.values()) == {"only A right", "only B right", "both wrong"}
    counts = {str(line): number for line, number in found.tables[0].rows}
    of_outcome = Counter(expected.values())
    assert counts == {
        "both right": sum(gold == a == b for _, gold, a, b in answers(store, name)),
        "only A right": of_outcome["only A right"],
        "only B right": of_outcome["only B right"],
        "both wrong, alike": sum(a == b != gold for _, gold, a, b in answers(store, name)),
        "both wrong, differently": of_outcome["both wrong"],
    }
    assert sum(int(str(row[-1])) for row in found.tables[1].rows) == len(expected)


def test_kinds_are_those_of_the_mistakes(store: Store) -> None:
    rows = {unit: row for unit, *row in answers(store, "pubmedqa")}
    for one in differences(record(store, "m", "pubmedqa"), record(store, "n", "pubmedqa")).examples:
        gold, *given = rows[one.id]
        assert [one.kind_a, one.kind_b] == [
            "right" if answer == gold else f"{gold} as {answer}" for answer in given
        ]
        assert [one.prediction_a, one.prediction_b] == given


def test_labels_of_documents_are_as_far_as_labels_differ(store: Store) -> None:
    found = differences(record(store, "m", "hoc"), record(store, "n", "hoc")).examples
    sizes = {unit: len({*a} ^ {*b}) for unit, _, a, b in answers(store, "hoc")}
    assert all(one.size == sizes[one.id] for one in found)
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)


def test_similarity(store: Store) -> None:
    found = differences(record(store, "m", "biosses"), record(store, "n", "biosses"))
    closer: Counter[str] = Counter()
    largest = 0.0
    for _, gold, a, b in answers(store, "biosses"):
        far = abs(a - gold) - abs(b - gold)
        closer["A closer" if far < 0 else "B closer" if far > 0 else "equally far"] += 1
        largest = max(largest, abs(a - b))
    assert {str(row[0]): row[1] for row in found.tables[0].rows} == closer
    assert found.examples[0].size == largest
    assert all(isinstance(one.gold, float) for one in found.examples)
    assert {one.kind_a for one in found.examples} <= {"right", "too high", "too low"}


@pytest.mark.parametrize("name", ["ncbi-disease", "ebm-pico"])
def test_entities(store: Store, name: str) -> None:
    found = differences(record(store, "m", name), record(store, "n", name))
    counts = {str(line): number for line, number in found.tables[0].rows}
    expected: Counter[str] = Counter()
    for _, *tags in answers(store, name):
        gold, a, b = ({*decode_spans(of_one)} for of_one in tags)
        expected["found by both"] += len(gold & a & b)
        expected["found by A only"] += len((gold & a) - b)
        expected["found by B only"] += len((gold & b) - a)
        expected["all"] += len(gold)
    assert {line: counts[line] for line in list(counts)[:3]} == {
        line: expected[line] for line in list(counts)[:3]
    }
    assert sum(int(str(counts[line])) for line in list(counts)[:5]) == expected["all"]
    assert len(found.examples) == sum(int(str(counts[line])) for line in OUTCOME if OUTCOME[line])
    assert sum(int(str(row[-1])) for row in found.tables[1].rows) == len(found.examples)


@pytest.mark.parametrize(
    ("gold", "first", "other", "lines"),
    [
        ([(0, 2)], [(0, 2)], [(0, 2)], ["found by both"]),
        ([(0, 2)], [(0, 2)], [(0, 1)], ["found by A only"]),
        ([(0, 2)], [], [(0, 2)], ["found by B only"]),
        ([(0, 2)], [(0, 1)], [(0, 1)], ["wrong in both, alike"]),
        ([(0, 2)], [(0, 1)], [(0, 3)], ["wrong in both, differently"]),
        ([], [(0, 1)], [(0, 2)], ["spurious in A only", "spurious in B only"]),
        ([], [(0, 1)], [(0, 1)], ["spurious in both"]),
        # B has (0, 1) for the gold entity, A two parts of it: the difference is told once, at the gold entity.
        ([(0, 4)], [(0, 1), (1, 4)], [(0, 1)], ["wrong in both, differently"]),
    ],
)
def test_lines_of_entities(gold: Any, first: Any, other: Any, lines: list[str]) -> None:
    sides = [[Span(start, end, "X") for start, end in side] for side in (gold, first, other)]
    assert [one.line for one in compared(*sides)] == lines


def test_every_difference_of_entities_is_told() -> None:
    """Whatever only one of the two predicts stands in a difference, and nothing else does."""
    rng = random.Random(0)
    for _ in range(300):
        gold, a, b = (
            decode_spans(rng.choices(["O", "O", "B-X", "I-X", "B-Y"], k=12)) for _ in range(3)
        )
        told = [one for one in compared(gold, a, b) if OUTCOME[one.line]]
        assert {*a} ^ {*b} <= {span for one in told for span in one.given if span}
        assert all(one.given[0] != one.given[1] for one in told)
        assert bool(told) == (a != b)


def test_no_text_without_data_and_marks_with_it(store: Store) -> None:
    both = record(store, "m", "ncbi-disease"), record(store, "n", "ncbi-disease")
    assert not any(one.texts for one in differences(*both).examples)
    words = [f"w{number}" for number in range(12)]
    rows = {
        unit: {"id": unit, "doc_id": None, "tokens": words, "tags": gold}
        for unit, gold, _, _ in answers(store, "ncbi-disease")
    }
    for one in differences(*both, "test", rows).examples:
        for name, answer in (("gold", one.gold), ("A", one.prediction_a), ("B", one.prediction_b)):
            if name in one.texts:
                start, end = map(int, str(answer).split()[1].split("-"))
                (marked,) = [piece.text for piece in one.texts[name] if piece.marked]
                assert marked == " ".join(words[start:end])
                assert bracketed(one.texts[name]).replace("[", "").replace("]", "") == " ".join(
                    words
                )
        right = [name for name, kind in (("A", one.kind_a), ("B", one.kind_b)) if kind == "right"]
        assert not set(right) & set(one.texts)
    other_data = {unit: {**row, "tokens": words[:5]} for unit, row in rows.items()}
    assert not any(one.texts for one in differences(*both, "test", other_data).examples)


def test_texts_of_other_types() -> None:
    entities = {
        "head": {"start": 0, "end": 6, "type": "GENE"},
        "tail": {"start": 11, "end": 17, "type": "DRUG"},
    }
    row = {"id": "1", "doc_id": "d", "text": "@GENE$ and @DRUG$", "label": "no", **entities}
    texts = pieces_of(row, tasks.get("chemprot").task_type)
    assert {name: bracketed(text) for name, text in texts.items()} == {
        "text": "[@GENE$] and [@DRUG$]"
    }
    pair = {"id": "1", "text_a": "x", "text_b": "y", "score": 1.0}
    assert list(pieces_of(pair, tasks.get("biosses").task_type)) == ["text_a", "text_b"]
    question = {"id": "1", "question": "is it", "context": "a " * 50, "label": "yes"}
    found = pieces_of(question, tasks.get("pubmedqa").task_type)
    assert list(found) == ["question", "context"]
    assert bracketed(shortened(found["context"])) == "a " * 40 + "..."
    assert bracketed(character_pieces("abc", [(0, 2), (1, 3)])) == "[abc]"


def test_the_largest_first_and_groups_in_turns() -> None:
    def one(unit: str, kind: str, size: float = 1) -> Difference:
        return Difference(unit, "only A right", "right", kind, "x", "x", "y", size)

    order = in_order([one("1", "k"), one("2", "k"), one("3", "l"), one("4", "k", 2)])
    assert [example.id for example in order] == ["4", "1", "3", "2"]
    assert Counter(example.group for example in order) == {
        "only A right: B k": 3,
        "only A right: B l": 1,
    }


def test_what_cannot_be_compared(store: Store, tmp_path: Path) -> None:
    for model, name, told in (
        ("m", "hoc", r"A and B are the same trial \(hoc, seed 1\)"),
        ("n", "biosses", "A is a trial of hoc, B of biosses"),
        ("elsewhere", "hoc", r"hoc: different data \(hash d of A, e of B\)"),
    ):
        with pytest.raises(SettingsError, match=told):
            differences(record(store, "m", "hoc"), record(store, model, name))
    mine = Store(tmp_path / "runs")
    few = [
        mine.read(fakes.finish(mine, name, fakes.trial("gad", seed), 0.5))
        for name, seed in (("x", 1), ("y", 2))
    ]
    (tmp_path / "z").mkdir()
    play(mine, "z", {"gad": 0.5}, (1,))
    with pytest.raises(
        SettingsError,
        match=r"gad: different examples were scored \(1 of test in A, 200 in B, 1 in both",
    ):
        differences(few[0], record(mine, "z", "gad"))
    with pytest.raises(SettingsError, match="Give --seed to take the same one of both"):
        differences(few[1], record(mine, "z", "gad"))
