"""The script that rewrites what is of before schema 1. Oracle: the frozen corpus, whose past is made by hand."""

import csv
import json
import zipfile
from pathlib import Path

import pytest

from benchmarks import old_stores, to_schema_1
from blurb.messages.errors import StoreError
from blurb.results import tables
from blurb.store.store import SCHEMA_FILE, Store
from tests.frozen.make import ZIP, figures

LACKING = {
    "results.csv": ("plan", "plugins"),
    "leaderboard.csv": ("plan", "plugins", "max_eval", "metrics_version"),
}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    with zipfile.ZipFile(ZIP) as packed:
        packed.extractall(tmp_path)
    return tmp_path / "runs"


def of_schema_6(path: Path) -> None:
    """Makes a table what it would have been."""
    lines = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    with path.open("w", encoding="utf-8", newline="") as file:
        columns = [name for name in lines[0] if name not in LACKING[path.name]]
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows({**line, "schema": "6"} for line in lines)


def of_before(root: Path) -> None:
    """Makes a store what it would have been: no marker, schemas in its files, a lock, an older key of provenance."""
    store = Store(root)
    for path in root.glob("*/rows/*.json"):
        content = json.loads(path.read_text())
        content.pop("learner", "")  # which its trials say
        path.write_text(json.dumps({"schema": 2, **content}))
    for path in root.glob("*/*/*/DONE.json"):
        file = path.with_name("provenance.json")
        made = json.loads(file.read_text())
        cut = made["facts"].get("dev_inputs", {}).pop("truncated", None)
        file.write_text(json.dumps({**made, "facts": {**made["facts"], "dev_truncated": cut or 0}}))
        store.seal(path.parent)
        path.write_text(json.dumps({"schema": 1, **json.loads(path.read_text())}))
        path.parent.with_name(f".{path.parent.name}.lock").touch()
    (root / ".rows.lock").touch()
    for path in root.glob("*/models.json"):
        path.unlink()
    (root / SCHEMA_FILE).unlink()


def test_tables_come_back_letter_by_letter(runs: Path) -> None:
    before = {name: (runs / name).read_bytes() for name in LACKING}
    for name in LACKING:
        of_schema_6(runs / name)
        assert (runs / name).read_bytes() != before[name]
    to_schema_1.main([runs / name for name in reversed(LACKING)])  # which needs the other first
    assert {name: (runs / name).read_bytes() for name in LACKING} == before


def test_a_store_comes_back_with_its_tables(runs: Path) -> None:
    before, rows = figures(runs), {path.name for path in runs.glob("*/rows/*.json")}
    tables_before = (runs / "results.csv").read_bytes()
    of_before(runs)
    with pytest.raises(StoreError, match="to_schema_1"):
        Store(runs)
    to_schema_1.main([runs])
    assert figures(runs) == before
    assert {path.name for path in runs.glob("*/rows/*.json")} == rows
    assert not list(runs.glob("*/*/.*.lock"))
    assert (runs.with_name("runs.before") / ".rows.lock").exists()
    tables.rebuild(Store(runs), runs / "leaderboard.csv", pytest.fail)
    assert (runs / "results.csv").read_bytes() == tables_before


def test_a_difference_stops_it_and_nothing_is_replaced(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_schema_6(runs / "results.csv")
    before = (runs / "results.csv").read_bytes()
    right = to_schema_1._runs
    monkeypatch.setattr(
        to_schema_1,
        "_runs",
        lambda path, old: [{**line, "value": "1.0"} for line in right(path, old)],
    )
    with pytest.raises(StoreError, match="value was"):
        to_schema_1.main([runs / "results.csv"])
    assert (runs / "results.csv").read_bytes() == before
    of_before(runs)
    known = old_stores.figures(runs)
    for changed in ({}, {**known, next(iter(known)): 0.123456}):
        monkeypatch.setattr(old_stores, "figures", lambda root, changed=changed: changed)
        with pytest.raises(StoreError, match=r"in one of the two|was 0\.123456"):
            to_schema_1.main([runs])
        assert not (runs / SCHEMA_FILE).exists()
        assert sorted(path.name for path in runs.parent.iterdir()) == ["runs"]
