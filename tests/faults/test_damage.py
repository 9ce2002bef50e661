"""Files that are damaged: of finished trials, and of leases."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from blurb.store.store import FILES
from tests.faults.child import Faults
from tests.faults.commands import blurb
from tests.faults.sweep import Undisturbed, chances, finished, record, rounds

Damage = Callable[[Path], object]


def _bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, Damage] = {
    "gone": Path.unlink,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "empty": lambda path: path.write_bytes(b""),
    "a bit": _bit,
    "a folder": _folder,
}


@pytest.mark.costly
def test_a_file_of_a_finished_trial(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """`run` repairs it: the tables are the same, and the other trials are untouched."""
    cases = [(file, kind) for file in (*FILES, "DONE.json") for kind in DAMAGE]
    drawn = chances("damage").sample(cases, min(len(cases), rounds(short=4)))
    for number, (file, kind) in enumerate(drawn):
        folder = tmp_path / str(number)
        shutil.copytree(undisturbed.folder, folder)
        hurt = sorted(folder.glob(f"runs/*/*/*/{file}"))[number % undisturbed.trials]
        others = {
            name: value
            for name, value in finished(folder).items()
            if str(hurt.parent.name) not in name
        }
        DAMAGE[kind](hurt)
        code, said = blurb(undisturbed.arguments, folder)
        assert code == 0, f"{file} {kind}: {said}"
        undisturbed.assert_same(folder)
        assert finished(folder).items() >= others.items(), f"{file} {kind}"
        assert blurb(["runs", "verify"], folder)[0] == 0
    record("damaged files of finished trials", files=len(drawn))


def test_a_flipped_bit_that_keeps_size_and_time_is_found_by_verify(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(undisturbed.folder, folder)
    hurt = next(folder.glob("runs/*/gad/*/predictions.parquet"))
    times = hurt.stat()
    _bit(hurt)
    os.utime(hurt, ns=(times.st_atime_ns, times.st_mtime_ns))
    code, said = blurb(["runs", "verify"], folder)
    assert code == 1
    assert "predictions.parquet" in said
    assert blurb(undisturbed.arguments, folder)[0] == 0
    undisturbed.assert_same(folder)
    assert blurb(["runs", "verify"], folder)[0] == 0


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 1024, b'{"token": 1}', b"[" * 100_000], ids=range(4)
)
def test_a_lease_that_cannot_be_read(
    content: bytes, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """Nobody can tell whose it is: it counts as held until it has been silent for long enough."""
    folder = tmp_path / "here"
    shutil.copytree(undisturbed.folder, folder)
    trial = next(folder.glob("runs/*/gad/*/DONE.json")).parent
    shutil.rmtree(trial)
    for lease in (trial.with_name(f".{trial.name}.lease"), folder / "runs" / ".rows.lease"):
        lease.write_bytes(content)
    code, said = blurb(undisturbed.arguments, folder, Faults(limit=0.4))
    assert code == 0, said
    undisturbed.assert_same(folder)
    record("damaged leases", files=2)
