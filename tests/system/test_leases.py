"""Leases: one at a time, whoever is killed, sleeps, or has a wrong clock. Oracle: a counter, and a clock of our own."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from blurb.system import leases
from blurb.system.lease_records import SIZE, LeaseRecord
from tests.system.other_machines import Clock, Elsewhere


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(leases, "time", made)
    return made


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / ".trial.lease"
    assert [left.name for left in tmp_path.iterdir() if left.name.endswith((".tmp", ".end"))] == []


def tries(path: Path, clock: Clock, seconds: float, every: float = 2.0) -> leases.Lease | None:
    """Tries to take a lease again and again for some time."""
    end = clock.now + seconds
    while clock.now < end:
        if lease := leases.take(path):
            return lease
        clock.now += every
    return None


def process(code: str, *arguments: object) -> subprocess.Popen[str]:
    given = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline().strip()


COUNTS = """
    import os, signal, sys
    from pathlib import Path
    from blurb.system import leases
    from blurb.system.lease_records import _start_of_process
    folder, dies = Path(sys.argv[1]), int(sys.argv[2])
    leases.PAUSES = (0.001, 0.01)
    print("ready", flush=True)
    sys.stdin.readline()
    for turn in range(1, 11):
        with leases.held(folder / ".x.lease"):
            inside = folder / "inside"
            if inside.exists() and _start_of_process(int(inside.read_text())):  # neither gone nor a zombie
                sys.exit("two inside")
            inside.write_text(str(os.getpid()))
            number = int((folder / "count").read_text())
            (folder / "count").write_text(str(number + 1))
            if turn == dies:
                os.kill(os.getpid(), signal.SIGKILL)
            inside.unlink()
    print("done", flush=True)
"""


@pytest.mark.costly
def test_of_many_processes_one_is_inside_also_if_some_are_killed_there(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    all_of_them = [process(COUNTS, tmp_path, dies) for dies in (0, 0, 0, 0, 0, 2, 5, 5)]
    assert [line(each) for each in all_of_them] == ["ready"] * 8
    for each in all_of_them:
        each.stdin.write("go\n")
        each.stdin.flush()
    assert [line(each) for each in all_of_them] == ["done"] * 5 + [""] * 3
    assert [each.wait() for each in all_of_them] == [0] * 5 + [-signal.SIGKILL] * 3
    assert (tmp_path / "count").read_text() == str(5 * 10 + 2 + 5 + 5)


HOLDS = """
    import sys, time
    from pathlib import Path
    from blurb.system import leases
    leases.BEAT = 0.05
    lease = leases.take(Path(sys.argv[1]))
    print("taken", flush=True)
    for line in sys.stdin:
        time.sleep(0.3)
        print(lease.lost, lease.is_held(), flush=True)
        lease.release()
        print("released", flush=True)
"""


def test_the_lease_of_a_killed_process_is_taken_over_at_once(path: Path) -> None:
    owner = process(HOLDS, path)
    assert line(owner) == "taken"
    assert leases.take(path) is None
    assert leases.seems_held(path) is True
    assert str(leases.read(path)) == f"process {owner.pid} on {os.uname().nodename}"
    owner.kill()  # and nobody asks for its exit code: a zombie is gone, too
    start = time.monotonic()
    with leases.held(path) as lease:
        assert lease.is_held()
        assert time.monotonic() - start < leases.LIMIT / 10
    owner.wait()
    assert not path.exists()


def test_what_a_process_left_that_was_killed_as_it_ended_a_stale_lease_goes_with_the_next_lease(
    path: Path,
) -> None:
    end = path.with_name(f"{path.name}.end")
    holder = process(HOLDS, end)
    assert line(holder) == "taken"
    with leases.held(path):
        assert end.exists(), "its owner lives"
    holder.kill()
    holder.wait()
    with leases.held(path):
        assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_process_number_that_is_used_again_is_another_process(path: Path) -> None:
    path.write_bytes(replace(LeaseRecord.me(), started=1).content())
    with leases.trying(path) as lease:
        assert lease is not None


@pytest.mark.costly
def test_a_process_that_slept_loses_its_lease_and_touches_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LIMIT", 0.6)
    owner = process(HOLDS, path)
    assert line(owner) == "taken"
    for _ in range(15):  # it beats
        assert leases.take(path) is None
        time.sleep(0.1)
    owner.send_signal(signal.SIGSTOP)
    start = time.monotonic()
    while (lease := leases.take(path)) is None:
        time.sleep(0.05)
    assert time.monotonic() - start > 0.5
    content = path.read_bytes()
    owner.send_signal(signal.SIGCONT)
    owner.stdin.write("\n")
    owner.stdin.flush()
    assert line(owner) == "True False"
    assert line(owner) == "released"
    owner.stdin.close()
    owner.wait()
    assert path.read_bytes() == content
    assert lease.is_held()
    lease.release()
    assert not path.exists()


def test_a_process_of_another_machine_keeps_its_lease_while_it_beats(
    path: Path, clock: Clock
) -> None:
    owner = Elsewhere(path)
    for _ in range(100):
        owner.beat()
        assert tries(path, clock, leases.BEAT) is None
    start = clock.now
    lease = tries(path, clock, 3 * leases.LIMIT)
    assert leases.LIMIT - leases.BEAT <= clock.now - start <= leases.LIMIT + 2 * leases.BEAT
    lease.release()


def test_time_that_the_observer_slept_does_not_make_a_lease_stale(path: Path, clock: Clock) -> None:
    Elsewhere(path).beat()
    for _ in range(leases.LOOKS):
        assert leases.take(path) is None
        clock.now += 100 * leases.LIMIT
    with leases.trying(path) as lease:
        assert lease is not None


@pytest.mark.parametrize("wrong", [-1e9, 0.0, 4e9])
def test_wrong_clocks_change_nothing(
    path: Path, clock: Clock, wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1.7e9 + wrong)
    owner = Elsewhere(path)
    owner.holder = replace(owner.holder, since="2999-01-01T00:00:00Z")
    for _ in range(20):
        owner.beat()
        os.utime(path, (3e9 + wrong, 3e9 + wrong))
        assert tries(path, clock, leases.BEAT) is None
    with leases.trying(path) as mine:
        assert mine is None
    tries(path, clock, 2 * leases.LIMIT).release()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"token": "0',
        b"\0" * SIZE,
        b"[" * SIZE,
        b"3",
        b"{}",
        "\ud83d".encode("utf-16", "surrogatepass"),
        replace(LeaseRecord.me(), pid=-1).content(),
        replace(LeaseRecord.me(), host="\x1b[2J").content(),
        b"x" * 10**6,
    ],
)
def test_what_cannot_be_read_is_held_until_it_is_stale(
    path: Path, clock: Clock, content: bytes
) -> None:
    path.write_bytes(content)
    assert leases.read(path) is None
    assert leases.who(path) == "another process"
    assert tries(path, clock, leases.LIMIT - 10) is None
    tries(path, clock, 30).release()


def test_a_lease_file_that_is_damaged_is_mended_by_the_next_beat(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT", 0.02)
    with leases.held(path) as lease:
        lease.news = {"epoch": 2, "dev": 0.5}
        with path.open("r+b") as file:
            file.truncate(3)
        assert lease.is_held()
        limit = time.monotonic() + 10
        while (there := leases.read(path)) is None or not there.news:
            assert time.monotonic() < limit
            time.sleep(0.01)
        assert there.news == {"epoch": 2, "dev": 0.5}
        assert path.stat().st_size == SIZE
    assert not path.exists()


def no_links(*given: object) -> None:
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("there", [False, True])
def test_without_hard_links(
    path: Path, clock: Clock, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if there:
        monkeypatch.setattr(os, "link", no_links)
    else:
        monkeypatch.delattr(os, "link")
    with leases.held(path) as lease:
        assert leases.take(path) is None
        assert lease.is_held()
        # As by one who meant another
        assert not leases._remove_if_right(path, lambda content: False)
        assert lease.is_held()
    assert not path.exists()
    Elsewhere(path).beat()
    tries(path, clock, 2 * leases.LIMIT).release()


def test_one_that_was_removed_by_mistake_is_put_back(path: Path) -> None:
    with leases.held(path) as lease:
        before = path.stat().st_ino
        assert not leases._remove_with_content(path, b"the stale one that was seen")
        assert not leases._remove_if_right(
            path, lambda content: content == b"the stale one that was seen"
        )
        assert (path.stat().st_ino, lease.is_held()) == (before, True)


def test_a_lease_that_is_gone_is_lost_for_good(path: Path) -> None:
    with leases.held(path) as lease:
        content = path.read_bytes()
        Elsewhere(path).beat()
        assert not lease.is_held()
        path.write_bytes(content)
        with pytest.raises(leases.Lost, match="another has taken its work over"):
            lease.check()
    assert path.read_bytes() == content


@pytest.mark.costly
@pytest.mark.parametrize("lag", [3.0, 25.0, 60.0])
def test_writes_that_are_seen_late_make_no_lease_stale(
    path: Path, clock: Clock, lag: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads give what was there some seconds ago; creation and rename are those of the server."""
    states: list[tuple[float, bytes | None]] = [(-lag, None)]
    read = leases._read_lease

    def late(file: Path) -> bytes | None:
        now = read(file)
        if file != path:
            return now
        states.append((clock.now, now))
        return next(content for at, content in reversed(states) if at <= clock.now - lag)

    monkeypatch.setattr(leases, "_read_lease", late)
    owner = Elsewhere(path)
    for _ in range(60):
        owner.beat()
        assert tries(path, clock, leases.BEAT, every=0.5) is None
    start = clock.now
    while not leases.remove_if_stale(path):
        clock.now += 0.5
        assert clock.now - start < leases.LIMIT + lag + leases.BEAT
    assert clock.now - start >= leases.LIMIT - leases.BEAT


def test_whoever_waits_long_is_told_for_whom(path: Path, clock: Clock) -> None:
    Elsewhere(path).beat()
    with (
        pytest.warns(UserWarning, match=r"Waiting for process \d+ on elsewhere"),
        leases.held(path),
    ):
        assert clock.now > leases.LIMIT - leases.BEAT


@pytest.mark.parametrize("beats", [True, False])
def test_who_does_not_wait_asks_only_whether_the_holder_lives(
    path: Path, clock: Clock, beats: bool
) -> None:
    owner = Elsewhere(path)
    owner.beat()
    sleep = clock.sleep

    def slept(seconds: float) -> None:
        sleep(seconds)
        if beats and clock.now > 5:
            owner.beat()

    clock.sleep = slept  # type: ignore[method-assign]
    if beats:
        with (
            pytest.raises(leases.Busy, match=r"process \d+ on elsewhere has it"),
            leases.held(path, wait=False),
        ):
            pytest.fail("it has two holders")
        assert clock.now < 2 * leases.BEAT
    else:
        with pytest.warns(UserWarning, match="Waiting"), leases.held(path, wait=False):
            pass
    with leases.held(path.with_name(".mine.lease")):
        before = clock.now
        with pytest.raises(leases.Busy), leases.held(path.with_name(".mine.lease"), wait=False):
            pytest.fail("it has two holders")
        assert clock.now == before


def test_for_display_one_look_compares_times_of_the_disk(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert leases.seems_held(path) is False
    Elsewhere(path).beat()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert leases.seems_held(path) is True
    beaten = path.stat().st_mtime - leases.LIMIT - 1
    os.utime(path, (beaten, beaten))
    assert leases.seems_held(path) is False

    monkeypatch.setattr(Path, "touch", Mock(side_effect=PermissionError(13, "Permission denied")))
    assert leases.seems_held(path) is None


@pytest.mark.parametrize(
    "error", [OSError(30, "Read-only file system"), OSError(28, "No space left on device")]
)
def test_a_disk_that_cannot_be_written_is_an_error(
    path: Path, error: OSError, monkeypatch: pytest.MonkeyPatch
) -> None:

    write: Callable[..., Any] = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", Mock(side_effect=error))
    with pytest.raises(OSError, match=error.strerror), leases.trying(path):
        pytest.fail("there is no lease")
    monkeypatch.setattr(Path, "write_bytes", write)
    assert list(path.parent.iterdir()) == []
