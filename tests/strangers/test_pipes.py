"""A pipe or a device in the place of a file is refused by every reader: one waits for ever, the other has no end."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blurb.checkpoints import reading, weights
from blurb.data import manifest, raw
from blurb.store.record import Record, read_predictions
from blurb.store.store import Store
from blurb.system import files, leases, text_files
from blurb.table_files import head_of, table_of, text_of
from tests.cli.in_process import run

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "toml": ("a.toml", text_files.read_toml),
    "JSON": ("spec.json", files.read_json),
    "hash": ("log.txt", files.file_hash),
    "copy": ("log.txt", lambda path: files.copy_file(str(path), f"{path}.copy")),
    "table": ("results.csv", table_of),
    "its first line": ("results.csv", head_of),
    "data": ("train.tsv", text_of),
    "manifest": ("manifest.json", lambda path: manifest.datasets(path)),
    "texts": ("a.jsonl", lambda path: list(raw.lines(path))),
    "predictions": ("predictions.parquet", read_predictions),
    "config": ("config.json", lambda path: reading.read_json(path.parent, path.name)),
    "safetensors": ("model.safetensors", lambda path: weights.check_header(path.parent, path)),
    "pickle": ("pytorch_model.bin", lambda path: weights.check_header(path.parent, path)),
}


def lay(path: Path, kind: str) -> None:
    """Puts a pipe or a device there; somebody ends the pipe, so that whoever waits for it fails and does not hang."""
    path.unlink(missing_ok=True)
    if kind == "device":
        path.symlink_to("/dev/zero")
        return
    os.mkfifo(path)
    threading.Thread(target=lambda: path.open("wb").close(), daemon=True).start()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_read_by_nobody(tmp_path: Path, reader: str, kind: str) -> None:
    name, read = READERS[reader]
    lay(tmp_path / name, kind)
    with pytest.raises(Exception, match="no ordinary file") as told:
        read(tmp_path / name)
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_lease_that_is_no_file_is_none(tmp_path: Path, kind: str) -> None:
    lay(tmp_path / "a.lease", kind)
    assert leases.read(tmp_path / "a.lease") is None
    assert leases.seems_held(tmp_path / "a.lease") is None


@pytest.mark.extensions
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_curve_that_is_no_file_is_none(tmp_path: Path, kind: str) -> None:
    from blurb.extensions.reports.html.collect import _curve

    lay(tmp_path / "history.csv", kind)
    assert _curve(Record(str(tmp_path))) == ()


@pytest.mark.parametrize("name", ["history.csv", "DONE.json", "predictions.parquet"])
def test_a_trial_with_one_is_damaged(name: str, runs: Path) -> None:
    (trial, *_) = Store(runs).trial_folders()
    lay(trial / name, "device")
    assert Store(runs).damage(trial) == [name]
    done = run("export", "markdown", "baseline:constant", "--output", str(runs))
    assert "Traceback" not in done.output


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "manifest.json", "a.csv"])
def test_the_doctor_waits_for_none(name: str, tmp_path: Path) -> None:
    (tmp_path / "GAD").mkdir()
    (tmp_path / "GAD" / "train.tsv").write_text("x\n")
    lay(tmp_path / name, "pipe")
    done = run("doctor", str(tmp_path))
    assert done.exit_code
    assert "Traceback" not in done.output
