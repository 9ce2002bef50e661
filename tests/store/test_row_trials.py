"""Row files: what makes a row, and damage that is told and never fatal."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blurb.messages.errors import BlurbError, DamageWarning
from blurb.results import from_store
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.cli.in_process import run
from tests.rewriting import edit
from tests.store.fakes import CONFIGURATION, finish, row, stored, trial


def test_rows_are_merged_by_task_and_seed_but_never_across_data(store: Store) -> None:
    rows.write(store, row("m", trial("gad", 1), trial("ddi", 1), trial("ddi", 2), trial("hoc", 1)))
    merged = rows.write(store, row("m", trial("gad", 2), trial("ddi", 1, data="new")))
    assert set(merged.trials["gad"]) == {1, 2}
    assert merged.trials["ddi"] == {1: trial("ddi", 1, data="new").hash}  # seed 2 had other data
    assert set(merged.trials["hoc"]) == {1}
    assert rows.read(store) == [merged]
    rows.write(store, row("m", trial(), configuration=replace(CONFIGURATION, precision="bf16")))
    assert len(rows.read(store)) == 2


def test_the_key_has_what_decides_and_no_words() -> None:
    first = row("m", trial())
    others = [
        replace(first, model="n"),
        replace(first, weights="v" * 64),
        replace(first, tokenizer="u" * 64),
        replace(first, recipe=2),
        replace(first, configuration=replace(CONFIGURATION, overrides={"lr": 0.1})),
        replace(first, configuration=replace(CONFIGURATION, protocol_hash="1" * 64)),
        replace(first, configuration=replace(CONFIGURATION, precision="bf16")),
    ]
    assert len({one.key for one in (first, *others)}) == len(others) + 1
    reworded = replace(first, configuration=replace(CONFIGURATION, note="other words"))
    assert (reworded.key, reworded.configuration) == (first.key, first.configuration)


DAMAGES = {
    "empty": b"",
    "half": b'{"mod',
    "list": b"[]",
    "deep": b"[" * 100_000,
    "nothing": b"{}",
    "not utf-8": b"\xff\xfe",
    "a field of another time": b'{"schema": 2}',
    "text in the place of a table": b'{"configuration": "x", "trials": {}, "families": {}}',
    "a number for a name": b'{"model": "m", "weights": "w", "tokenizer": "t", "recipe": 1, '
    b'"configuration": {"protocol": "p", "protocol_hash": "h", "overrides": {}, "precision": "", "suite": "blurb"}, '
    b'"trials": {"gad": 3}, "families": {"gad": "x"}}',
}


_WHOLE = {"model": "m", "weights": "w", "tokenizer": "t", "recipe": 1, "trials": {}, "families": {}}
_WRONG = {
    field: {"configuration": CONFIGURATION.identity, field: ["x"]}
    for field in ("model", "weights", "tokenizer", "recipe")
}
for _field, _value in (
    ("overrides", None),
    ("protocol", 3),
    ("suite", None),
    ("precision", "\ud800"),
):
    _WRONG[_field] = {"configuration": {**CONFIGURATION.identity, _field: _value}}
DAMAGES |= {
    f"{name} of another type": json.dumps(_WHOLE | wrong).encode() for name, wrong in _WRONG.items()
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_row_is_told_and_the_others_stand(kind: str, tmp_path: Path) -> None:
    store = stored(tmp_path, "m")
    bad = tmp_path / "m" / "rows" / f"{'0' * 12}.json"
    bad.write_bytes(DAMAGES[kind])
    with pytest.warns(DamageWarning, match=r"000000000000\.json") as told:
        (found,) = from_store.read(store)
    assert found.seeds("gad") == (1,)
    assert "left out" in str(told[0].message)
    rows.write(store, row("m", trial(seed=2)))  # and it stops no run
    assert bad.exists()


@pytest.mark.parametrize(
    "change", [lambda trials: trials.update(gad={}), lambda trials: trials.pop("gad")]
)
def test_a_row_that_lost_the_trials_of_a_dataset_is_no_row(
    change: Callable[[Any], object], tmp_path: Path
) -> None:
    """A check would not miss the dataset, and pass."""
    store = Store(tmp_path)
    key = rows.write(store, row("m", trial("gad", 1), trial("ddi", 1))).key
    edit(tmp_path / "m" / "rows" / f"{key}.json", lambda content: change(content["trials"]))
    told: list[str] = []
    assert rows.read(store, lambda damage: told.append(str(damage))) == []
    assert "no trials of gad, which it has planned" in told[0]
    written = run("check", "m", "--baseline", "m", "--output", str(tmp_path))
    assert written.exit_code == 2 or isinstance(written.exception, BlurbError)


def test_a_damaged_row_is_put_together_from_its_trials(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for planned in (trial("gad"), trial("ddi"), trial("hoc", weights="v" * 64)):
        finish(store, "m", planned, 0.5)
    first = rows.write(store, replace(row("m", trial("gad"), trial("ddi")), tokenizer="t"))
    file = tmp_path / "m" / "rows" / f"{first.key}.json"
    file.write_text(file.read_text()[:100])
    with pytest.warns(
        DamageWarning,
        match=rf"{first.key}\.json: could not be read; renamed it to {first.key}\.damaged",
    ):
        rows.write(store, replace(row("m", trial("gad")), tokenizer="t"))
    (found,) = from_store.read(store, lambda damage: pytest.fail(str(damage)))
    assert set(found.records) == {"gad", "ddi"}  # the third has other weights


def test_datasets_of_other_plug_in_code_leave_the_row(store: Store) -> None:
    old = [trial("gad", plugins={"head": "a"}), trial("ddi", plugins={"head": "a"}), trial("hoc")]
    rows.write(
        store,
        replace(row("m", *old), plugins={one.task: one.plugins for one in old if one.plugins}),
    )
    new = trial("gad", plugins={"head": "b"})
    found = rows.write(store, replace(row("m", new), plugins={"gad": new.plugins}))
    assert found.trials == {"gad": {1: new.hash}, "hoc": {1: trial("hoc").hash}}
    assert rows.read(store) == [found]


def test_a_damaged_trial_is_told_and_the_others_stand(store: Store) -> None:
    paths = [finish(store, "m", trial(seed=seed), 0.5) for seed in (1, 2, 3)]
    rows.write(store, row("m", *(trial(seed=seed) for seed in (1, 2, 3))))
    (paths[0] / "predictions.parquet").unlink()
    (paths[1] / "DONE.json").write_text('{"sha256": []}')
    told: list[str] = []
    (found,) = from_store.read(store, lambda damage: told.append(str(damage)))
    assert found.seeds("gad") == (3,)
    assert [str(path) in text for path, text in zip(paths[:2], told, strict=True)] == [True, True]
    assert "predictions.parquet" in told[0]
    assert "DONE.json" in told[1]


def test_what_is_no_row_is_never_read_as_one(tmp_path: Path) -> None:
    """A copy that somebody made, and the reason of a failure."""
    store = stored(tmp_path, "m")
    shutil.copy(next((tmp_path / "m" / "rows").glob("*.json")), tmp_path / "m" / "rows" / "x.json")
    (tmp_path / "m" / "rows" / "0123456789abcdef.failed.json").write_text('{"message": "boom"}')
    assert len(from_store.read(store, lambda damage: pytest.fail(str(damage)))) == 1


def test_rows_that_cannot_be_listed_are_told(tmp_path: Path) -> None:
    store = stored(tmp_path, "m")
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / rows.FOLDER).symlink_to(rows.FOLDER)  # leads round
    told: list[str] = []
    assert len(rows.read(store, lambda damage: told.append(str(damage)))) == 1
    assert [str(tmp_path / "n" / rows.FOLDER) in text for text in told] == [True]
