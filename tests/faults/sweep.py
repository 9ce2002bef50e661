"""The sweep that is disturbed, and what has to hold during it and after it."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb.corpora import demo
from blurb.store.store import Store
from blurb.system.files import file_hash
from blurb.system.leases import END
from tests.faults.child import Faults
from tests.faults.commands import Command, blurb

TABLES = ("runs/leaderboard.csv", "runs/results.csv")
STAYS = (".sweeps",)
"""Hidden files that are no leftovers."""
SILENCE = 1.5
"""Seconds after which a process of another machine counts as dead."""


def sweep(
    *more: str, models: Sequence[str] = ("baseline:majority", "baseline:constant")
) -> list[str]:
    """A run of the smoke protocol on demo data."""
    data = ["--data", str(demo.prepare()), "--tasks", "gad,biosses,hoc", "--protocol", "smoke"]
    return ["run", *models, *data, "--device", "cpu", "--precision", "fp32", *more]


@dataclass(frozen=True)
class Undisturbed:
    """What a sweep makes that nobody disturbs.

    :param changes: number of its changes of the disk (`child`)
    """

    arguments: Sequence[str]
    folder: Path
    changes: int
    trials: int

    @classmethod
    def run(cls, arguments: Sequence[str], folder: Path) -> Undisturbed:
        command = Command(arguments, folder)
        assert command.ended() == 0, command.text
        return cls(arguments, folder, command.changes, len(finished(folder)))

    def assert_no_wrong_cell(self, folder: Path) -> None:
        """The tables of an unfinished sweep are whole, and have nothing that those of the finished one have not."""
        for name in TABLES:
            if (folder / name).exists():
                assert (folder / name).read_bytes().endswith(b"\n"), f"{name} is cut"
        if (folder / "runs" / "results.csv").exists():
            lines = (folder / "runs" / "results.csv").read_text().splitlines()
            assert set(lines) <= set(
                (self.folder / "runs" / "results.csv").read_text().splitlines()
            )
            assert len(lines) == len(set(lines)), "a trial is counted twice"

    def assert_same(self, folder: Path, kills: int = 0) -> None:
        """The tables are those of the undisturbed sweep, every trial is there once, and nothing else is left.

        :param kills: each may have left files that were being written, of the trial, its lease and the tables: after an
            hour those in the store go with `blurb gc`, and those beside the tables with the next that writes these;
            and the right to end the lease of another that was killed, which `blurb gc` ends
        """
        for name in TABLES:
            assert (folder / name).read_bytes() == (self.folder / name).read_bytes(), name
        assert finished(folder).keys() == finished(self.folder).keys()
        store = Store(folder / "runs")
        assert [path for path in store.trial_folders() if not store.is_done(path)] == []
        unfinished = [path for path in left(folder) if path.name.endswith((".tmp", END))]
        assert len(unfinished) <= 3 * kills
        for path in unfinished:
            os.utime(path, (0, 0))
        if unfinished:
            for cleaning in (self.arguments, ["gc"]):
                assert blurb(cleaning, folder, Faults(limit=SILENCE))[0] == 0
        assert [str(path.relative_to(folder)) for path in left(folder)] == []


def finished(folder: Path) -> dict[str, tuple[int, str]]:
    """The trials that are done, with time and hash of the file that says so."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, file_hash(path))
        for path in folder.glob("runs/*/*/*/DONE.json")
        if not path.parent.name.startswith(".")
    }


def assert_kept(before: Mapping[str, tuple[int, str]], folder: Path) -> None:
    """What was finished is there as it was."""
    now = finished(folder)
    assert {name: now.get(name) for name in before} == before


def left(folder: Path) -> list[Path]:
    """What a command that ended in order would have removed."""
    hidden = [path for path in folder.rglob(".*") if path.name not in STAYS]
    return hidden + list(folder.rglob("*.failed.json")) + list(folder.rglob("*.tmp"))


def rounds(short: int, share: float = 1.0) -> int:
    """How often to disturb: `short`, and a share of `BLURB_CHAOS` where that is more (`make chaos`)."""
    return max(short, round(share * int(os.environ.get("BLURB_CHAOS", "0"))))


def chances(name: str) -> random.Random:
    """The random numbers of a test: the same ones every time, unless `BLURB_CHAOS_SEED` asks for others."""
    return random.Random(f"{os.environ.get('BLURB_CHAOS_SEED', '0')} {name}")


def record(what: str, **figures: Any) -> None:
    """Adds figures to the report of `make chaos`."""
    if report := os.environ.get("BLURB_CHAOS_REPORT"):
        with open(report, "a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, **figures}) + "\n")


def sentence(text: str) -> str:
    """What a command said of why it ended, without its progress; fails if it shows a traceback."""
    assert "Traceback" not in text, text
    return re.sub(r"\n\d+ changes of the disk, .*\n", "", text)
