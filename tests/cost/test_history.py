"""What finished trials say of the next ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blurb.cost import model
from blurb.cost.model import Correction, History
from blurb.store.store import Store, read_json, write_json
from tests.store.fakes import finish, trial

HERE = {"device": "cpu", "threads": 1, "cpus": 2}


def finished(store: Store, seed: int, taken: float, predicted: float | None = None, **environment: Any) -> Path:
    told = {} if predicted is None else {"predicted": {"learner": "encoder", "type": "ner", "seconds": predicted}}
    facts = {"train_seconds": 0.75 * taken, "predict_seconds": 0.25 * taken, **told}
    path = finish(store, "m", trial(seed=seed), 0.5, facts=facts)
    provenance = read_json(path / "provenance.json")  # as on the machine that the test is about
    write_json(path / "provenance.json", {**provenance, "environment": {**HERE, **environment}})
    return path


def test_measured_to_predicted_by_learner_and_type(tmp_path: Path) -> None:
    store = Store(tmp_path)
    finished(store, 1, taken=20, predicted=10)
    finished(store, 2, taken=8, predicted=10)
    known = finished(store, 3, taken=30)  # of a store that had no predictions yet, but the trial is planned again
    finished(store, 4, taken=99)
    found = model.read_history(tmp_path, {known: ("encoder", "qa", 10.0)}, HERE)
    assert sorted(found.ratios["encoder", "ner"]) == pytest.approx([0.8, 2.0])
    assert found.ratios[("encoder", "qa")] == pytest.approx([3.0])
    assert len(found.ratios) == 2
    assert sorted(found.seconds["encoder", "ner"]) == [8, 20]


@pytest.mark.parametrize("other", [{"threads": 2}, {"device": "NVIDIA"}, {"cpus": 64}])
def test_another_machine_says_nothing(tmp_path: Path, other: dict[str, Any]) -> None:
    finished(Store(tmp_path), 1, taken=20, predicted=10, **other)
    assert model.read_history(tmp_path, {}, HERE).ratios == {}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"environment": 3}',
        '{"environment": {"device": "cpu", "threads": 1, "cpus": 2}, "facts": [1]}',
        '{"environment": {"device": "cpu", "threads": 1, "cpus": 2}, "facts": {"predicted": 3, "train_seconds": "x"}}',
    ],
)
def test_damage_is_passed_over(tmp_path: Path, content: str) -> None:
    path = finished(Store(tmp_path), 1, taken=20, predicted=10)
    finished(Store(tmp_path), 2, taken=40, predicted=10)
    (path / "provenance.json").write_text(content)
    assert model.read_history(tmp_path, {}, HERE).ratios == {("encoder", "ner"): [4.0]}


def test_a_correction_is_the_geometric_mean() -> None:
    found = History({("encoder", "ner"): [0.5, 2.0, 2.0], ("encoder", "qa"): [1.5]})
    assert found.correction("encoder", "ner") == Correction(pytest.approx(2 ** (1 / 3)), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("ratio", [0.2, 0.9, 2.5])
def test_one_trial_corrects_by_a_third_and_two_by_two_thirds(ratio: float) -> None:
    for count in (1, 2, 3, 4):
        found = History({("encoder", "qa"): [ratio] * count}).correction("encoder", "qa")
        assert (found.factor, found.trials) == (pytest.approx(ratio ** min(1.0, count / 3)), count)


def test_other_types_and_learners_shift_nothing() -> None:
    found = History({("encoder", "ner"): [2.0], ("encoder", "qa"): [0.5], ("probe", "ner"): [9.0]})
    assert found.correction("encoder", "document") == Correction(1.0, 0)
    assert found.correction("baseline", "ner") == Correction()


def test_short_trials_shift_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in range(1, 13):  # a fixed cost of seconds is no factor of a long trial
        finished(store, seed, taken=21, predicted=4)
    found = model.read_history(tmp_path, {}, HERE)
    assert found.ratios == {}
    assert found.correction("encoder", "ner") == Correction()


def test_a_trial_that_is_being_put_into_place_is_none_yet(tmp_path: Path) -> None:
    path = finished(Store(tmp_path), 1, taken=20, predicted=10)
    path.rename(path.with_name(f".{path.name}.0123.new"))
    assert model.read_history(tmp_path, {}, HERE).ratios == {}
