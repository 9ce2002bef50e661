"""Intervals that were computed before: those of a row hold while the folders of its trials are as they were.

Resampling is a sixth of a second a row and more with large test sets, so a store of a thousand rows takes minutes.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import blurb
from blurb import metrics
from blurb.leaderboard import intervals
from blurb.leaderboard.intervals import Value
from blurb.messages.errors import BlurbError
from blurb.results.row import Row
from blurb.system import cache
from blurb.system.files import write_whole

KIND = "intervals"
UNSEEN = 1.0
"""Seconds without a bar."""
SAVED = 5.0
"""Seconds between two writes, as whoever does not want to wait goes on there the next time."""
Ends = dict[str, tuple[float, float, str]]
"""Name of a number -> both ends of its interval, and `Value.basis`."""


def of_rows(rows: Sequence[Row], store: Path) -> list[dict[str, Value]]:
    """The numbers of rows with their intervals, as `intervals.of_row` has them; with a bar if that takes long.

    :param store: whose rows they are, or most of them
    """
    kept = IntervalCache(store)
    by_row: dict[int, dict[str, Value]] = {}
    missing: list[int] = []
    for place, row in enumerate(rows):
        ends = kept.find(row)
        if ends is None:
            missing.append(place)
        else:
            means = intervals.of_row(row, resamples=0)
            by_row[place] = {name: Value(one.mean, *ends.get(name, ())) for name, one in means.items()}
    for place in _shown(missing):
        by_row[place] = intervals.of_row(rows[place], intervals.RESAMPLES)
        kept.add(rows[place], by_row[place])
    kept.save()
    return [by_row[place] for place in range(len(rows))]


def _shown(places: list[int]) -> Iterator[int]:
    """The places, with a bar in a terminal as soon as they take long."""
    begun = time.monotonic()
    for done, place in enumerate(places):
        if sys.stderr.isatty() and time.monotonic() - begun > UNSEEN:
            from rich.progress import track

            from blurb.terminal.output import console

            what = "intervals (kept for the next time)"
            yield from track(places[done:], what, console=console(stderr=True), transient=True)
            return
        yield place


class IntervalCache:
    """The intervals of the rows of a store, in a file of the cache; one that is damaged counts as none.

    A file has the last state of each row, so it does not grow with the trials.
    """

    def __init__(self, store: Path) -> None:
        name = hashlib.sha256(str(store.absolute()).encode()).hexdigest()[:16]
        self.path = cache.home() / KIND / f"{name}.json"
        self._version = [blurb.__version__, metrics.VERSION, intervals.RESAMPLES]
        self._rows: dict[str, tuple[str, Ends]] = {}
        self._changed = False
        self._saved = time.monotonic()
        with suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
            self._rows = _read(json.loads(self.path.read_text(encoding="utf-8")), self._version)

    def find(self, row: Row) -> Ends | None:
        """Those of a row whose trials are as they were; None if they are to be computed."""
        known = self._rows.get(_name(row))
        return known[1] if known is not None and known[0] == row.stamp and row.stamp else None

    def add(self, row: Row, values: Mapping[str, Value]) -> None:
        """Keeps those of a row, unless its trials cannot be told from others.

        Nor those over seeds of a dataset with predictions: they may be damaged, which is to be told every time.
        """
        damaged = any(values[name].basis == "seeds" for name in row.records if name in values)
        if row.stamp and not damaged:
            ends = {name: (*one.interval, one.basis) for name, one in values.items() if one.interval is not None}
            self._rows[_name(row)] = row.stamp, ends
            self._changed = True
            if time.monotonic() - self._saved > SAVED:
                self.save()

    def save(self) -> None:
        """Writes what is new; a cache that cannot be written costs time, never a table."""
        self._saved = time.monotonic()
        if not self._changed:
            return
        self._changed = False
        with suppress(OSError, BlurbError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, json.dumps({"version": self._version, "rows": self._rows}).encode())


def _name(row: Row) -> str:
    return f"{row.model} {row.key}"


def _read(content: Any, version: list[Any]) -> dict[str, tuple[str, Ends]]:
    if content["version"] != version:
        return {}
    return {
        str(name): (
            str(stamp),
            {str(of): (float(low), float(high), str(basis)) for of, (low, high, basis) in ends.items()},
        )
        for name, (stamp, ends) in content["rows"].items()
    }
