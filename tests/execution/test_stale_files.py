"""What gc finds beside the trials: the lease of the rows, and copies of a killed `data prepare`."""

from __future__ import annotations

import os
from pathlib import Path

from click.testing import CliRunner

from blurb.cli import cli
from blurb.execution import stale_files
from blurb.store.store import LEASE, ROWS_LEASE, Store
from blurb.system.files import hidden_name
from blurb.system.lease_records import LeaseRecord

ENDS = (".end", ".end.end", ".end.end.end")


def test_the_lease_of_the_rows(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    store.root.mkdir()
    lease = store.root / ROWS_LEASE
    gone = LeaseRecord.me().content().replace(str(os.getpid()).encode(), b"999999999")
    lease.write_bytes(gone)
    assert [(one.kind, one.path) for one in stale_files.find(store)] == [("stale lease", lease)]
    assert stale_files.remove(store, stale_files.find(store))
    assert not lease.exists()
    lease.write_bytes(LeaseRecord.me().content())
    assert stale_files.find(store) == []


def test_rights_to_end_a_lease_of_processes_that_were_killed_one_after_the_other(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / "runs")
    trial = store.lease(store.root / "row" / "gad" / "0123456789abcdef")
    trial.parent.mkdir(parents=True)
    gone = LeaseRecord.me().content().replace(str(os.getpid()).encode(), b"999999999")
    ends = [
        lease.with_name(lease.name + end)
        for lease in (store.root / ROWS_LEASE, trial)
        for end in ENDS
    ]
    for path in ends:
        path.write_bytes(gone)
    mine = trial.with_name(f".fedcba9876543210{LEASE}.end")
    mine.write_bytes(LeaseRecord.me().content())
    found = stale_files.find(store)
    assert {(one.kind, one.path) for one in found} == {("stale lease", path) for path in ends}
    assert len(stale_files.remove(store, found)) == len(ends)
    assert list(trial.parent.iterdir()) == [mine], "its process lives"


def test_copies_of_a_killed_prepare(tmp_path: Path) -> None:
    left, new, mine = (
        hidden_name(tmp_path / "GAD"),
        hidden_name(tmp_path / "HoC"),
        tmp_path / ".GAD.old.tmp",
    )
    for folder in (left, new, mine, tmp_path / "GAD"):
        folder.mkdir()
        (folder / "train.tsv").write_text("x")
    for folder in (left, mine, tmp_path / "GAD"):
        os.utime(folder, (1, 1))
    listed = CliRunner().invoke(cli, ["gc", "--data", str(tmp_path), "--dry-run"])
    assert "1 leftover would go" in listed.output
    removed = CliRunner().invoke(cli, ["gc", "--data", str(tmp_path)])
    assert (removed.exit_code, "1 leftover removed" in removed.output) == (0, True)
    assert sorted(tmp_path.iterdir()) == sorted([new, mine, tmp_path / "GAD"])
