"""Scores a row of a board again, when the metrics have another version."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from blurb import __version__, metrics
from blurb.extensions.board import ledger
from blurb.extensions.board.ledger import BEFORE, FOLDER, Event, LedgerEntry, append
from blurb.extensions.board.verification import own_data
from blurb.messages import DataError, SettingsError
from blurb.results.score import shares_of
from blurb.row_files.reading import ROWS, RowFiles, manifest_of, read_row_files
from blurb.row_files.scores import claimed_scores, figures_of
from blurb.row_files.writing import (
    ABOUT,
    MANIFEST,
    RowRecord,
    RunRecord,
    manifest_bytes as manifest_file,
    row_json_bytes,
)
from blurb.system.files import read_json
from blurb.tasks import SCORED


def rescore(
    board: Path, name: str, data: Path, by: str, date: str, raw: Path | None = None
) -> LedgerEntry:
    """Computes the figures of a row anew from its predictions; the ledger keeps the score before and after.

    :param name: of its folder
    :param data: a data folder, which must be that of the row
    :param raw: likewise the folder of the original releases, which the inputs of some runs need
    :raises SettingsError: if there is no such row, or this version of the metrics scored it
    :raises DataError: if the data is not that of the row, or its files cannot be read
    """
    with ledger.changing(board):
        if not FOLDER.fullmatch(name):
            raise SettingsError(f"there is no row '{name[:40]}'.", where=board / ROWS)
        place, before = board / ROWS / name, board / ROWS / f".{name}{BEFORE}"
        if before.is_dir() and not place.exists():  # a kill between the two renames
            os.rename(before, place)
        shutil.rmtree(before, ignore_errors=True)  # a kill after both
        if not place.is_dir():
            raise SettingsError(f"there is no row '{name[:40]}'.", where=board / ROWS)
        row = read_row_files(place)
        entries = [entry for entry in ledger.read(board / ledger.FILE) if entry.row == name]
        if all(run["metrics_version"] == metrics.VERSION for run in row.about["runs"]):
            raise SettingsError(
                f"version {metrics.VERSION} of the metrics, which this blurb has, scored it.",
                where=place,
            )
        about = RowRecord(
            **{
                **row.about,
                "blurb": __version__,
                "runs": [_run(row, run, data, raw) for run in row.about["runs"]],
            }
        )
        # A copy of the row with another description, beside it.
        aside = place.with_name(f".{name}")
        shutil.rmtree(aside, ignore_errors=True)
        shutil.copytree(place, aside)
        content = row_json_bytes(about)
        (aside / ABOUT).write_bytes(content)
        hashes = {
            **read_json(aside / MANIFEST)["sha256"],
            ABOUT: hashlib.sha256(content).hexdigest(),
        }
        (aside / MANIFEST).write_bytes(manifest_file(hashes))
        manifest = manifest_of(aside)
        if entries and entries[-1].event is Event.RESCORED and entries[-1].manifest == manifest:
            entry = entries[-1]  # a kill before the renames
        elif entries and entries[-1].manifest == manifest_of(place):
            new = _mean(RowFiles(place, about, row.predictions))
            entry = LedgerEntry(date, Event.RESCORED, name, by, manifest, old=_mean(row), new=new)
            append(board, entry)
        else:
            shutil.rmtree(aside)
            raise DataError("its files are not those of its last entry.", place)
        os.rename(place, before)
        os.rename(aside, place)
        shutil.rmtree(before)
        return entry


def _run(row: RowFiles, run: RunRecord, data: Path, raw: Path | None) -> RunRecord:
    if own_data(run, data, raw).hash != run["data"]:
        raise DataError(f"{run['task']} is not the data of the row.", data)
    dev, test = (figures_of(row, run, split, data) if run[split] else {} for split in SCORED)
    return RunRecord(**{**run, "dev": dev, "test": test, "metrics_version": metrics.VERSION})


def _mean(row: RowFiles) -> float:
    """The mean of its datasets, weighted as in the score, which it is if there are all thirteen."""
    means = claimed_scores(row).means()
    return sum(share * means[name] for name, share in shares_of(means).items())
