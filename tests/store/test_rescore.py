"""Metrics from stored predictions. Oracle: scikit-learn, seqeval and SciPy on the parquet files, and bytes on disk."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import seqeval.metrics
import sklearn.metrics

from blurb import metrics
from blurb.messages.errors import BlurbError, Notice
from blurb.store import rescore
from blurb.store.record import read_predictions, write_predictions
from blurb.store.store import FILES, Store, read_json, write_json
from blurb.system import leases
from tests.results import played
from tests.system.test_leases import Clock

NAMES = ("ncbi-disease", "gad", "biosses", "pubmedqa")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four datasets with two seeds each, of invented predictions."""
    folder = tmp_path_factory.mktemp("finished") / "runs"
    played.play(Store(folder), "m", dict.fromkeys(NAMES, 0.7), (1, 2))
    return folder


@pytest.fixture
def store(finished: Path, tmp_path: Path) -> Store:
    shutil.copytree(finished, tmp_path / "runs")
    return Store(tmp_path / "runs")


def test_damaged_leases_are_waited_for_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(leases, "time", clock)
    paths = store.trial_folders()[:3]
    for path in paths:
        store.lease(path).write_bytes(b"not a lease")
    with pytest.warns(Notice, match="Waiting up to two minutes"):
        assert rescore.rescore_store(store) == (len(store.trial_folders()), 0)
    assert leases.LIMIT <= clock.now < 1.5 * leases.LIMIT
    assert not any(store.lease(path).exists() for path in paths)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"token": 5}', b'{"pid": "x"}', b"\xff", b"1" * 5_000]
)
def test_a_lease_that_cannot_be_read_and_is_old_is_nobodys(
    store: Store, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """Its owner would have mended it with the next beat; two minutes were waited for nothing."""
    clock = Clock()
    monkeypatch.setattr(leases, "time", clock)
    lease = store.lease(store.trial_folders()[0])
    lease.write_bytes(content)
    os.utime(lease, (0, 0))
    assert rescore.rescore_store(store) == (len(store.trial_folders()), 0)
    assert clock.now < leases.LIMIT / 10
    assert not lease.exists()


def trial_of(store: Store, name: str) -> Path:
    return next(path for path in store.trial_folders() if path.parent.name == name)


def content(store: Store) -> dict[str, bytes]:
    return {
        str(path.relative_to(store.root)): path.read_bytes() for path in store.root.glob("*/*/*/*")
    }


def silent(text: str) -> None:
    pytest.fail(f"nothing was to be told: {text}")


def _ner(gold: Any, predicted: Any) -> float:
    return float(seqeval.metrics.f1_score(gold, predicted))


def _gad(gold: Any, predicted: Any) -> float:
    return float(sklearn.metrics.f1_score(gold, predicted, pos_label="1"))


def _biosses(gold: Any, predicted: Any) -> float:
    return float(scipy.stats.pearsonr(gold, np.clip(predicted, 0, 4)).statistic)


@pytest.mark.parametrize(
    ("name", "metric", "oracle"),
    [
        ("ncbi-disease", "f1", _ner),
        ("gad", "f1", _gad),
        ("biosses", "pearson", _biosses),
        ("pubmedqa", "accuracy", sklearn.metrics.accuracy_score),
    ],
)
def test_figures_are_those_of_each_split_alone(
    store: Store, name: str, metric: str, oracle: Any
) -> None:
    figures = read_json(trial_of(store, name) / "metrics.json")
    assert (figures["metric"], figures["metrics_version"]) == (metric, metrics.VERSION)
    for split in ("dev", "test"):
        columns = read_predictions(trial_of(store, name) / "predictions.parquet", split=split)
        assert len(columns["gold"]) == played.SIZES[split]
        assert figures[split][metric] == pytest.approx(
            oracle(columns["gold"], columns["prediction"]), abs=1e-6
        )
        # `played` writes gold there
        assert figures["majority"][split][metric] == pytest.approx(1.0)
    assert figures["dev"] != figures["test"]


def test_metrics_that_are_right_are_not_written_again(store: Store) -> None:
    before = {path: path.stat().st_mtime_ns for path in store.root.glob("*/*/*/*")}
    assert rescore.rescore_store(store, silent) == (len(NAMES) * 2, 0)
    assert {path: path.stat().st_mtime_ns for path in store.root.glob("*/*/*/*")} == before


def test_a_changed_metric_changes_the_trials_of_its_datasets_and_no_predictions(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a release would that raises the version of the metrics."""
    before = content(store)
    monkeypatch.setattr(metrics, "VERSION", metrics.VERSION + 1)
    assert rescore.rescore_store(store, silent) == (len(NAMES) * 2, len(NAMES) * 2)
    changed = {Path(name).name for name, text in content(store).items() if before[name] != text}
    assert changed == {"metrics.json", "DONE.json"}
    assert all(store.is_done(path) for path in store.trial_folders())
    assert all(
        read_json(path / "metrics.json")["metrics_version"] == metrics.VERSION
        for path in store.trial_folders()
    )
    monkeypatch.undo()
    rescore.rescore_store(store, silent)
    assert content(store) == before


def test_a_damaged_file_of_metrics_is_repaired_and_nothing_else_is(store: Store) -> None:
    right = content(store)
    gone, cut, folder, predictions = (trial_of(store, name) for name in NAMES)
    (gone / "metrics.json").unlink()
    (cut / "metrics.json").write_text("{")
    (folder / "metrics.json").unlink()
    (folder / "metrics.json").mkdir()
    (predictions / "predictions.parquet").write_bytes(b"cut")
    told: list[str] = []
    assert rescore.rescore_store(store, lambda damage: told.append(str(damage))) == (
        len(NAMES) * 2 - 2,
        2,
    )
    assert [
        str(path) in text for path, text in zip(sorted([folder, predictions]), told, strict=True)
    ] == [True, True]
    for path in (gone, cut):
        name = str((path / "metrics.json").relative_to(store.root))
        assert (path / "metrics.json").read_bytes() == right[name]
        assert store.is_done(path)
    assert (predictions / "predictions.parquet").read_bytes() == b"cut"


def test_what_cannot_be_read_is_told_and_the_others_are_scored(store: Store) -> None:
    bad = [trial_of(store, name) for name in NAMES[:3]]
    write_json(bad[0] / "DONE.json", {"sha256": []})
    (bad[1] / "DONE.json").unlink()
    (bad[2] / "spec.json").write_text("{}")
    store.seal(bad[2])  # whole, and not a trial
    told: dict[str, str] = {}

    def tell(damage: BlurbError) -> None:
        told.update({path: str(damage) for path in map(str, bad) if path in str(damage)})

    scored, _ = rescore.rescore_store(store, tell)
    assert scored == len(NAMES) * 2 - 3
    assert set(told) == set(map(str, bad))
    assert all("DONE.json" in told[str(path)] for path in bad[:2])


@pytest.mark.parametrize(
    "change",
    [
        # Nothing is damaged, and the figure is not that of the predictions
        pytest.param(
            lambda old: {**old, "test": {**old["test"], "pearson": 0.123}}, id="another value"
        ),
        pytest.param(
            lambda old: {
                **old,
                "dev": {name: value for name, value in old["dev"].items() if name != "constant"},
            },
            id="a figure less",
        ),
        pytest.param(
            lambda old: {
                **old,
                "majority": {
                    **old["majority"],
                    "test": {**old["majority"]["test"], "spearman": 0.5},
                },
            },
            id="a figure more",
        ),
        pytest.param(lambda old: {**old, "metric": "spearman"}, id="another metric"),
        pytest.param(lambda old: {**old, "dev": 0.5}, id="a number for a text"),
    ],
)
def test_refresh_says_whether_the_figures_changed(change: Any, store: Store) -> None:
    path = trial_of(store, "biosses")
    assert rescore.refresh(store, path) is False
    figures = read_json(path / "metrics.json")
    write_json(path / "metrics.json", change(figures))
    store.seal(path)
    assert rescore.refresh(store, path) is True
    assert read_json(path / "metrics.json") == figures


@pytest.mark.parametrize(("steps", "changed"), [(1, False), (4, False), (10_000_000, True)])
def test_the_last_bit_of_another_processor_is_no_change(
    steps: int, changed: bool, store: Store
) -> None:
    """A correlation of one machine, read on another whose sums are added in another order."""
    path = trial_of(store, "biosses")
    figures = read_json(path / "metrics.json")
    value = figures["test"]["pearson"]
    write_json(
        path / "metrics.json",
        {**figures, "test": {**figures["test"], "pearson": value + steps * np.spacing(value)}},
    )
    store.seal(path)
    before = (path / "metrics.json").read_bytes()
    assert rescore.refresh(store, path) is changed
    assert ((path / "metrics.json").read_bytes() == before) is not changed


@pytest.mark.parametrize("name", [*FILES, "DONE.json"])
def test_only_a_trial_whose_metrics_alone_are_damaged_needs_no_training(
    store: Store, name: str
) -> None:
    path = trial_of(store, "gad")
    (path / name).write_bytes(b"x")
    assert rescore.is_done(store, path) is (name == "metrics.json")
    assert store.is_done(path) is (name == "metrics.json")


def test_metrics_of_another_version_are_computed_before_a_trial_counts_as_done(
    store: Store,
) -> None:
    path = trial_of(store, "gad")
    right = read_json(path / "metrics.json")
    write_json(path / "metrics.json", {**right, "metrics_version": 0, "test": {"f1": 0.0}})
    store.seal(path)
    assert rescore.is_done(store, path) is True
    assert read_json(path / "metrics.json") == right


def test_the_majority_is_scored_as_the_model_is() -> None:
    """Two units of dev and three of test, by hand."""
    columns = {
        "split": ["dev", "test", "dev", "test", "test"],
        "doc_id": [None] * 5,
        "gold": ["1", "1", "0", "0", "1"],
        "prediction": ["1", "1", "0", "1", "0"],
        "majority": ["1"] * 5,
    }

    class ByHand:
        def score(
            self, gold: list[str], predicted: list[str], documents: list[None]
        ) -> dict[str, float]:
            assert len(documents) == len(gold)
            return {"f1": _gad(gold, predicted)}

    figures = rescore.figures(ByHand(), columns)  # type: ignore[arg-type]
    assert figures["dev"]["f1"] == 1.0
    # One right of two said, of two that there are
    assert figures["test"]["f1"] == pytest.approx(2 * 1 / (2 + 2))
    assert figures["majority"]["dev"]["f1"] == pytest.approx(2 * 1 / (2 + 1))
    assert figures["majority"]["test"]["f1"] == pytest.approx(2 * 2 / (3 + 2))


def test_predictions_that_the_metric_refuses_stop_no_other_trial(tmp_path: Path) -> None:
    """A tag of no scheme, as a formulation of a plug-in could have stored it: the metric raises ValueError."""
    store = Store(tmp_path)
    played.play(store, "m", {"ncbi-disease": 0.7, "gad": 0.7}, (1,))
    path = trial_of(store, "ncbi-disease")
    columns = read_predictions(path / "predictions.parquet")
    columns["prediction"][-1][0] = "Z-Disease"
    write_predictions(path / "predictions.parquet", columns)
    store.seal(path)
    before = (path / "metrics.json").read_bytes()
    told: list[str] = []
    assert rescore.rescore_store(store, lambda damage: told.append(str(damage))) == (1, 0)
    (text,) = told
    assert str(path) in text
    assert "'Z'" in text
    assert (path / "metrics.json").read_bytes() == before
