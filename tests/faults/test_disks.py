"""Disks that are full, cannot be written, or go away. The command says so, and the next one goes on."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from blurb.store.store import FILES
from tests.faults.child import Faults
from tests.faults.commands import blurb
from tests.faults.sweep import Undisturbed, assert_kept, chances, finished, record, rounds, sentence

FULL, LOST, READ_ONLY = "No space left on device", "Stale file handle", "Read-only file system"


@pytest.mark.costly
@pytest.mark.parametrize(("fault", "reason"), [("full_from", FULL), ("lost_from", LOST)])
def test_a_disk_that_fails_in_the_middle(
    fault: str, reason: str, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """From some change of the disk on. What was finished stays, and when the disk is back the sweep is completed."""
    rng, failures, codes = chances(fault), 0, set()
    while failures < rounds(short=4, share=0.1):
        folder = tmp_path / str(failures)
        place = rng.randint(1, undisturbed.changes)
        code, said = blurb(undisturbed.arguments, folder, Faults(**{fault: place}))
        assert "Traceback" not in said
        if code == 0:  # all was done, and what failed was the removal of a lease
            name = "runs/leaderboard.csv"
            assert (folder / name).read_bytes() == (undisturbed.folder / name).read_bytes()
        else:
            assert code in (1, 2), f"{place}: {said}"
            assert reason in sentence(said), f"{place}: {said}"
        before = finished(folder)
        undisturbed.assert_no_wrong_cell(folder)
        code, said = blurb(undisturbed.arguments, folder)
        assert code == 0, f"{place}: {said}"
        assert_kept(before, folder)
        undisturbed.assert_same(folder, kills=1)  # on a disk that is gone nothing can be removed
        failures += 1
        codes.add(code)
    record(f"disk: {reason}", failures=failures)


def test_a_store_that_cannot_be_written(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Everything that only looks works; everything else says why it does not, and changes nothing."""
    folder = tmp_path / "here"
    shutil.copytree(undisturbed.folder, folder)
    there = contents(folder)
    for looking in (
        ["leaderboard", "show"],
        ["status"],
        ["runs", "verify"],
        ["gc", "--dry-run"],
        ["doctor", "runs"],
    ):
        code, said = blurb(looking, folder, Faults(read_only=True))
        assert code == 0, said
    for writing in (undisturbed.arguments, ["rescore"]):
        code, said = blurb(writing, folder, Faults(read_only=True))
        assert code == 2, said
        assert READ_ONLY in sentence(said), said
    assert contents(folder) == there


@pytest.mark.costly
@pytest.mark.parametrize(
    "room", [pytest.param(60, id="60 KB"), pytest.param(150, marks=pytest.mark.slow, id="150 KB")]
)
def test_a_disk_that_is_really_full(room: int, undisturbed: Undisturbed, tmp_path: Path) -> None:
    """A file system of its own with so many KB, where the system lets one be mounted; writes end in the middle."""
    script = tmp_path / "run.sh"
    script.write_text(
        FILL.format(
            room=room, here=tmp_path, python=sys.executable, command=" ".join(undisturbed.arguments)
        )
    )
    done = subprocess.run(["unshare", "-rm", "bash", str(script)], capture_output=True, text=True)
    if "mount failed" in done.stdout or done.returncode == 1:
        pytest.skip(f"no file system can be mounted here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "full.said").read_text()
    assert (tmp_path / "full.code").read_text().strip() in ("1", "2"), said
    assert FULL in sentence(said)
    undisturbed.assert_same(tmp_path / "after")


FILL = """
mkdir -p {here}/disk
mount -t tmpfs -o size=8M none {here}/disk || {{ echo mount failed; exit 0; }}
mkdir {here}/disk/work
dd if=/dev/zero of={here}/disk/filling bs=1K count=$((8192 - {room} )) 2> {here}/dd
cd {here}/disk/work
{python} -m blurb {command} > {here}/full.said 2>&1; echo $? > {here}/full.code
rm {here}/disk/filling
{python} -m blurb {command} > {here}/again.said 2>&1 || exit 3
cp -a {here}/disk/work {here}/after
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# Files that are damaged: of finished trials, and of leases.


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
