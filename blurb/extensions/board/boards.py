"""A board: a folder of rows and the ledger of what happened to them.

A row is scored again when the metrics have another version.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypedDict

from blurb import __version__, metrics
from blurb.extensions.board import ledger
from blurb.extensions.board.ledger import (
    BEFORE,
    FOLDER,
    MOST_SIGNALS,
    MOST_TEXT,
    Event,
    LedgerEntry,
    append,
)
from blurb.extensions.board.listing import sentence
from blurb.extensions.board.verification import (
    Level,
    Reproduction,
    RowVerification,
    beside_others,
    demand_figures,
    own_data,
    verify_row,
)
from blurb.messages import DataError, SettingsError, UnknownName
from blurb.results.row import DEMO
from blurb.results.score import shares_of
from blurb.row_files.reading import ROWS, RowFiles, manifest_of, read_row_files, rows_on
from blurb.row_files.scores import claimed_scores, figures_of
from blurb.row_files.writing import (
    ABOUT,
    MANIFEST,
    RowRecord,
    RunRecord,
    manifest_bytes as manifest_file,
    row_json_bytes,
)
from blurb.system.files import read_bytes, read_json, write_whole
from blurb.tasks import SCORED


class BoardRow(TypedDict):
    """A row of a board."""

    row: Annotated[str, "name of its folder"]
    model: Annotated[str, "name of the model"]
    level: Annotated[Level, "how far its figures are believed now"]
    recorded: Annotated[str, "level of its last verification in the ledger; empty if it has none"]
    unseen: Annotated[
        list[str], "datasets that you have no data of, if the other figures of the row are right"
    ]
    signals: Annotated[list[str], "what is odd about it, also beside the other rows"]
    manifest: Annotated[str, "SHA-256 of the MANIFEST.json of the files that were looked at"]


class VerifiedBoard(TypedDict):
    """The result of `blurb leaderboard verify` for a board."""

    rows: Annotated[list[BoardRow], "the rows by name"]
    new: Annotated[list[str], "entries that the ledger of the earlier release does not have"]
    problems: Annotated[
        list[str], "what does not fit between rows and ledger, or was changed since"
    ]


def verify_board(
    board: Path,
    data: Path,
    since: Path | None = None,
    submitted: bool = False,
    reruns: Mapping[str, str] | None = None,
    raw: Path | None = None,
) -> VerifiedBoard:
    """Recomputes the figures of every row, beside all others, and looks whether rows and ledger fit.

    :param data: the verifier's own data folder
    :param since: the ledger of an earlier release
    :param reruns: row -> the row of another party by which it is reproduced, if it is
    :param raw: their folder of the original releases, which the inputs of some runs need
    :param submitted: whether the new entries are of strangers, who may only add rows
    :raises DataError: if a ledger or the files of a row cannot be read, or the data is missing
    """
    if since is not None and not since.is_file():
        raise SettingsError("there is no such ledger.", where=since)
    problems = list(ledger.problems(board, since))
    new = ledger.read(board / ledger.FILE)[len(ledger.read(since)) :] if since else []
    problems += [
        f"{entry.row}: a submission may only add rows, and has: {sentence(entry)}"
        for entry in new
        if submitted and entry.event is not Event.ADDED
    ]
    recorded = ledger.entries_on(board)
    alone = [verify_row(each, data, raw) for each in rows_on(board)]
    demand_figures(alone, data)
    by_name = {
        each.row.folder.name: beside_others(
            each, [other for other in alone if other is not each], data
        )
        for each in alone
    }
    for name in (*(reruns or {}), *(reruns or {}).values()):
        if name not in by_name:
            raise UnknownName("row", name, by_name)
    again = {
        name: Reproduction(by_name[name], by_name[other], data=data)
        for name, other in (reruns or {}).items()
    }
    rows = [
        BoardRow(
            row=name,
            model=each.row.about["model"],
            level=_level(each, recorded, again),
            recorded=recorded[name].level if name in recorded else "",
            unseen=each.unseen,
            signals=list(map(str, each.signals)),
            manifest=each.row.manifest,
        )
        for name, each in by_name.items()
    ]
    problems += [
        f"{row['row']}: was {row['recorded']} when it was verified, and is only claimed now"
        for row in rows
        if row["level"] is Level.CLAIMED
        and not row["unseen"]
        and row["recorded"] in (Level.RECOMPUTED, Level.REPRODUCED)
    ]
    problems += [
        f"{name}: not reproduced by {each.rerun.row.folder.name}: {'; '.join(objections)}"
        for name, each in again.items()
        if (objections := each.content["objections"])
    ]
    return VerifiedBoard(
        rows=rows, new=[f"{entry.row}: {sentence(entry)}" for entry in new], problems=problems
    )


def fails(verified: VerifiedBoard) -> bool:
    """Whether rows and ledger do not fit, or a row is only claimed without the ledger saying so.

    A row that was recomputed by somebody with more data is as good as they say.
    """
    return bool(verified["problems"]) or not all(
        row["recorded"] for row in verified["rows"] if row["level"] is Level.CLAIMED
    )


def _level(
    row: RowVerification, recorded: Mapping[str, LedgerEntry], reruns: Mapping[str, Reproduction]
) -> Level:
    """As somebody recorded it who knew that two parties were two, or as a rerun says that is named now.

    Rows of two names are no proof of two parties: a copy with a few answers changed has another name, too.
    """
    name = row.row.folder.name
    if name in reruns:
        return reruns[name].level
    last = recorded.get(name)
    known = last and (last.level, last.manifest) == (Level.REPRODUCED, row.row.manifest)
    return Level.REPRODUCED if known and row.level is Level.RECOMPUTED else row.level


def submit(board: Path, row: Path, name: str, by: str, date: str) -> Path:
    """Puts the files of a row on a board and says so in its ledger; returns the new folder.

    After a kill the same call goes on: an entry that is there is not written again.

    :param name: of its folder, which must be new
    :raises SettingsError: for another name, and for files that the board has
    :raises DataError: if these are not the files of a row, or the ledger cannot be read
    """
    place = board / ROWS / name
    if not FOLDER.fullmatch(name):
        raise SettingsError(
            "the name must be letters, digits, '.', '_' and '-', and a folder's on every system "
            f"(got '{name[:40]}').",
            where=place,
        )
    with ledger.changing(board):
        manifest, files = read_row_files(row).manifest, sorted(row.iterdir())
        recorded = ledger.entries_on(board)
        if alike := ledger.same_folders({name, *recorded}):
            raise SettingsError(
                f"{' and '.join(alike[0])} are one folder on macOS and Windows.", where=place
            )
        if place.exists():
            raise SettingsError(
                f"the name is on the board already (got '{name[:40]}').", where=place
            )
        if name in recorded and recorded[name].manifest != manifest:
            raise SettingsError(
                f"the ledger has a row '{name}' of other files, which are gone",
                where=place,
                fix="withdraw it first, or submit the files that it had.",
            )
        for other in rows_on(board):
            if other.manifest == manifest:
                raise SettingsError(
                    f"these very files are on the board already, as {other.folder.name}.", where=row
                )
        aside = board / ROWS / f".{name}"
        shutil.rmtree(aside, ignore_errors=True)  # of a submission that was killed
        aside.mkdir(parents=True)
        try:
            for path in files:
                write_whole(aside / path.name, read_bytes(path))
            if manifest_of(aside) != manifest:
                raise DataError("changed while it was read.", row)
            if name not in recorded:
                append(board, LedgerEntry(date, Event.ADDED, name, by, manifest))
            aside.rename(place)
        finally:
            shutil.rmtree(aside, ignore_errors=True)  # of a failure; else it has moved
    return place


def withdraw(board: Path, name: str, by: str, reason: str, date: str) -> None:
    """Takes a row from a board; the ledger keeps who did so and why.

    :raises SettingsError: if there is no such row
    """
    with ledger.changing(board):
        place, is_recorded = board / ROWS / name, name in ledger.entries_on(board)
        if not FOLDER.fullmatch(name) or not (place.is_dir() or is_recorded):
            raise SettingsError(f"there is no row '{name[:40]}'.", where=board / ROWS)
        if is_recorded:
            append(board, LedgerEntry(date, Event.WITHDRAWN, name, by, reason=reason))
        # Also what a kill left behind.
        for there in (place, *(place.with_name(f".{name}{end}") for end in ("", BEFORE))):
            if there.is_dir():
                shutil.rmtree(there)


def record(board: Path, verified: VerifiedBoard, by: str, date: str) -> tuple[int, list[str]]:
    """Writes the levels and signals into the ledger that are not what it says.

    Whoever lacks data does not change what somebody else recorded.

    :returns: the number of new entries, and the rows that were changed since they were verified: nothing is said of
        files that nobody looked at
    """
    with ledger.changing(board):
        recorded = ledger.entries_on(board)
        count, changed = 0, []
        for row in verified["rows"]:
            name, manifest = row["row"], row["manifest"]
            place = board / ROWS / name
            before = recorded.get(name)
            if (
                before is None
                or before.manifest != manifest
                or not place.is_dir()
                or manifest_of(place) != manifest
            ):
                changed.append(name)
                continue
            signals = tuple(
                " ".join(signal.split())[:MOST_TEXT] for signal in row["signals"][:MOST_SIGNALS]
            )
            better = row["unseen"] and before.level
            if not better and (before.level, before.signals) != (row["level"], signals):
                append(
                    board,
                    LedgerEntry(
                        date,
                        Event.VERIFIED,
                        name,
                        by,
                        manifest,
                        level=row["level"],
                        signals=signals,
                    ),
                )
                count += 1
        return count, changed


WORKFLOWS = Path(".github") / "workflows"
TITLE = re.compile(r"[\w .,:()+-]{1,100}")
"""Names of a board, which stand in YAML and in shell lines."""
REQUIREMENT = re.compile(r"[\w.,:/@=<>~!+-]{1,300}")
"""Requirements that pip takes, with a version or an address."""


def found_board(
    folder: Path, title: str, suite: str = "blurb", requirement: str = ""
) -> list[Path]:
    """Writes the files of a board; returns their paths.

    :param folder: new, or empty but for hidden files, such as those of a repository
    :param requirement: what its workflows install; by default this version of blurb
    :raises SettingsError: if the folder has files, or a text is none that workflows can have
    """
    requirement = requirement or f"blurb-bench=={__version__}"
    if not TITLE.fullmatch(title) or not REQUIREMENT.fullmatch(requirement):
        raise SettingsError(
            "the title and the requirement must be plain words without quotes, $ or line breaks."
        )
    if folder.exists() and any(not path.name.startswith(".") for path in folder.iterdir()):
        raise SettingsError("the folder is not empty", where=folder, fix="give a new one.")
    if (folder / WORKFLOWS).exists():
        raise SettingsError(
            "there are workflows already", where=folder / WORKFLOWS, fix="give a new folder."
        )
    demo = suite == DEMO
    values = {
        "@DATA@\n": "" if demo else _template("data.yml", {}),
        "@VERSION@": __version__,
        "@BLURB@": requirement,
        "@TITLE@": title,
    }
    contents = {
        folder / "README.md": _template(
            "README.md", {**values, "@SUITE@": "--suite demo" if demo else "--data DATA --raw RAW"}
        ),
        folder / WORKFLOWS / "verify.yml": _template(
            "verify.yml", {**values, "@SUITE@": "--suite demo" if demo else "--data data --raw raw"}
        ),
        folder / WORKFLOWS / "publish.yml": _template("publish.yml", values),
        folder / ".gitattributes": "* -text\n",  # line endings are part of the hashes
        folder / ROWS / ledger.KEEP: "",
        folder / ledger.FILE: "",
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return list(contents)


def _template(name: str, values: Mapping[str, str]) -> str:
    text = (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
    for place, value in values.items():
        text = text.replace(place, value)
    return text


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
        last = ledger.entries_on(board).get(name)
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
        if last and last.event is Event.RESCORED and last.manifest == manifest:
            entry = last  # a kill before the renames
        elif last and last.manifest == row.manifest:
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
