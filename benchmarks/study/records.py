"""The results of the study: `results.csv`, lines as `blurb run` writes them, and `times.csv`, a line a trial."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

from blurb.protocols.protocol import load_protocol_file
from blurb.results import results_csv, tables
from blurb.results.schema import SCHEMA
from blurb.store.store import Store, read_json
from blurb.system.files import write_whole

TIMES = (
    "trial",
    "model",
    "protocol",
    "protocol_hash",
    "task",
    "seed",
    "train_seconds",
    "choose_seconds",
    "predict_seconds",
    "threads",
)
Line = dict[str, str]


def read(path: Path) -> list[Line]:
    """The lines of a table; none where there is no file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [_today(line) for line in csv.DictReader(file)]


def _today(line: Line) -> Line:
    """A line of schema 5 as one of 6; its protocols score every example, so `eval_seed` is empty."""
    return {**line, "schema": str(SCHEMA), "eval_seed": ""} if line.get("schema") == "5" else line


def of(lines: list[Line], protocol: str, task: str) -> list[Line]:
    """The lines of a protocol as it is now: those of another version or with other settings say nothing here."""
    now = load_protocol_file(protocol).hash[:12]
    return [line for line in lines if line["protocol_hash"] == now and line["task"] == task]


def done(folder: Path, protocol: str, task: str, seeds: int) -> set[str]:
    """The encoders whose trials of a protocol on a dataset are all in the folder of results."""
    found: dict[str, set[str]] = {}
    for line in of(read(folder / "results.csv"), protocol, task):
        if line["split"] == "test":
            found.setdefault(line["model"], set()).add(line["seed"])
    return {model for model, there in found.items() if len(there) >= seeds}


def collect(store: Path, folder: Path) -> None:
    """Adds what a store holds to the folder of results; what both have is the store's."""
    with tempfile.TemporaryDirectory() as aside:
        table = Path(aside) / "leaderboard.csv"
        tables.rebuild(Store(store), table)
        fresh = read(tables.results_beside(table))
    add(folder / "results.csv", results_csv.COLUMNS, fresh, ("trial", "split", "metric"))
    times = []
    for path in sorted(store.glob("*/*/*/provenance.json")):
        if path.with_name("DONE.json").is_file():
            made, asked = read_json(path), read_json(path.with_name("spec.json"))
            facts = made["facts"]
            times.append(
                {
                    "trial": path.parent.name,
                    "model": made["model"],
                    "protocol": made["configuration"]["protocol"],
                    "protocol_hash": made["configuration"]["protocol_hash"][:12],
                    "task": asked["task"],
                    "seed": str(asked["seed"]),
                    "threads": str(made["environment"]["threads"]),
                    **{
                        name: str(facts.get(name, ""))
                        for name in TIMES
                        if name.endswith("_seconds")
                    },
                }
            )
    add(folder / "times.csv", TIMES, times, ("trial", "protocol_hash"))


def add(path: Path, columns: tuple[str, ...], fresh: list[Line], key: tuple[str, ...]) -> None:
    """Lines into a table, in the place of those with the same key."""
    found = {tuple(line[column] for column in key): line for line in [*read(path), *fresh]}
    order = [
        name
        for name in ("protocol", "task", "settings", "model", "encoder", "seed")
        if name in columns
    ]
    lines = sorted(found.values(), key=lambda line: [line[name] for name in order])
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    write_whole(path, text.getvalue().encode())
