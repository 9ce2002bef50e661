"""Baselines. Oracle: brute force, and published class counts.

The counts are in docs/benchmark.md, "GAD" and docs/benchmark.md, "PubMedQA".
"""

from __future__ import annotations

from typing import Any

import pytest

from blurb import tasks
from blurb.formulations import bind
from blurb.learners import building
from blurb.learners.base import Learner, Subset
from blurb.learners.building import resolve_model


def _learn(kind: str, task: str, rows: list[dict[str, Any]]) -> Learner:
    learner = building.learner(
        resolve_model(f"baseline:{kind}"), bind(tasks.get(task)), "cpu", "fp32"
    )
    learner.fit(Subset(rows, ""), Subset([], ""), 1, lambda done, total: None)
    return learner


def _score(learner: Learner, rows: list[dict[str, Any]]) -> float:
    formulation = learner.formulation
    predicted, scores = learner.predict(Subset(rows, ""))
    assert scores is None
    documents = [row.get("doc_id") for row in rows]
    return formulation.main_metric(
        formulation.score([formulation.gold(row) for row in rows], predicted, documents)
    )


def _classes(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [{"label": label} for label, count in counts.items() for _ in range(count)]


def test_majority_of_pubmedqa() -> None:
    rows = _classes({"yes": 276, "no": 169, "maybe": 55})
    assert _score(_learn("majority", "pubmedqa", rows), rows) == pytest.approx(0.552)


def test_majority_of_gad() -> None:
    rows = _classes({"1": 281, "0": 253})
    assert _score(_learn("majority", "gad", rows), rows) == pytest.approx(0.6896, abs=5e-5)


def test_majority_of_chemprot_is_false_and_scores_nothing_but_a_constant_scores_something() -> None:
    rows = _classes(
        {"false": 12315, "CPR:3": 663, "CPR:4": 1655, "CPR:5": 178, "CPR:6": 292, "CPR:9": 642}
    )
    assert _score(_learn("majority", "chemprot", rows), rows) == 0.0
    gold = 663 + 1655 + 178 + 292 + 642
    assert _score(_learn("constant", "chemprot", rows), rows) == pytest.approx(
        2 * 1655 / (15745 + gold)
    )


def test_the_constant_is_the_best_of_all_constants() -> None:
    rows = _classes({"0": 90, "1": 10})
    learner = _learn("constant", "gad", rows)
    assert _score(learner, rows) == pytest.approx(2 * 0.1 * 1 / 1.1)
    assert set(learner.predict(Subset(rows, ""))[0]) == {"1"}


def test_majority_of_similarity_is_the_mean_and_has_no_correlation() -> None:
    rows = [{"text_a": "a", "text_b": "b", "score": score} for score in (0.0, 1.0, 4.0)]
    learner = _learn("majority", "biosses", rows)
    assert learner.predict(Subset(rows, ""))[0] == pytest.approx([5 / 3] * 3)
    assert _score(learner, rows) == 0.0


def test_words() -> None:
    rows = [{"tokens": list("abcd"), "tags": ["O", "O", "O", "B-GENE"], "doc_id": None}] * 3
    assert _learn("majority", "bc2gm", rows).predict(Subset(rows, ""))[0] == [["O"] * 4] * 3
    assert _score(_learn("majority", "bc2gm", rows), rows) == 0.0
    # All words B: four entities a sentence, of which one is right.
    assert _score(_learn("constant", "bc2gm", rows), rows) == pytest.approx(2 * 1 / (4 + 1))


def test_pico() -> None:
    rows = [{"tokens": list("abc"), "tags": ["I-PAR", "I-OUT", "O"], "doc_id": "1"}]
    assert _score(_learn("constant", "ebm-pico", rows), rows) == pytest.approx(
        (2 * (1 / 3) / (1 / 3 + 1)) / 3
    )


def test_documents() -> None:
    a, b = tasks.get("hoc").labels[:2]
    rows = [
        {"id": f"{doc}_s{i}", "doc_id": doc, "text": "x", "labels": labels}
        for i, (doc, labels) in enumerate(
            [("1", [a]), ("1", []), ("2", [a, b]), ("2", []), ("3", [])]
        )
    ]
    assert _learn("majority", "hoc", rows).predict(Subset(rows, ""))[0] == [[]] * 5
    learner = _learn("constant", "hoc", rows)
    assert learner.predict(Subset(rows, ""))[0] == [[a]] * 5
    assert _score(learner, rows) == pytest.approx(2 * 2 / (3 + 3))
