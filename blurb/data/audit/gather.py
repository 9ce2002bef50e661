"""Reads what the checks need: the splits that are there, and the originals where they are at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from blurb.data.audit._base import Corpus, Finding
from blurb.data.loading import TaskData
from blurb.data.readers._files import decode
from blurb.data.splits import path_of, read_split
from blurb.errors import BlurbError, DataError
from blurb.inputs.tokenized_split import Read
from blurb.tasks import SPLITS, Split, Task

HEADERS = {"ncbi-disease": r"NCBI(?:train|develop|test)set_corpus\.txt"}
"""Original releases in PubTator's format, of tasks whose BLURB files name no documents: pattern of the file names."""
TITLE = re.compile(r"^(\d+)\|t\|", re.MULTILINE)


def gather(
    tasks: Sequence[Task],
    folder: Path,
    raw: Path | None = None,
    read: Read | None = None,
    load_original: Callable[[Task, Path, Iterable[Split]], TaskData] | None = None,
) -> tuple[list[Corpus], list[Finding], list[str]]:
    """The corpora; findings for what cannot be read; and a note on everything that is not there.

    :param load_original: reads the originals of a task below `raw` (`blurb.corpora.originals`, a floor above)
    :raises DataError: if a folder does not exist
    """
    for path, option in ((folder, "data"), (raw, "raw")):
        if path is not None and not path.is_dir():
            raise DataError(f"the folder does not exist; give it with --{option}.", path)
    corpora, unreadable, notes = [], [], []
    for task in tasks:
        splits, files = {}, {}
        for split in SPLITS:
            path = path_of(task, folder, split)
            if not path.is_file():
                notes.append(f"{task.name}: {split} is not there ({task.files[split]}).")
                continue
            try:
                splits[split] = read_split(task, folder, split)
            except DataError as error:
                # The message may quote the file; it goes to the terminal only.
                line = f"line {error.line}" if error.line is not None else "as a whole"
                unreadable.append(Finding("unreadable", task.name, split, 1, "not audited, and cannot be run", line))
                notes.append(str(error))
                continue
            files[split] = path.read_bytes()
        originals = {}
        if load_original is not None and raw is not None and task.dummified and task.original:
            try:
                loaded = load_original(task, raw, splits)
                originals = {split: dataset.to_list() for split, dataset in loaded.splits.items()}
            except BlurbError as error:  # not there, not as expected, or without the extra that reads it
                notes.append(f"{task.name}: compared with other tasks by its text with dummies only: {error}")
        headers = _headers(task, raw)
        if task.name in HEADERS and not headers:
            notes.append(
                f"{task.name}: its files name no documents; repeated ones (8528200) show in the original release only "
                "(--raw with NCBItrainset_corpus.txt)."
            )
        readings = {}
        if read is not None:  # the checks ask of words and entities only, so the others need not be tokenised
            readings = {
                split: read(task, rows) for split, rows in splits.items() if rows[0].keys() & {"tokens", "head"}
            }
        corpora.append(Corpus(task, splits, originals, readings, headers, files))
    return corpora, unreadable, notes


def _headers(task: Task, raw: Path | None) -> dict[str, list[str]]:
    """PubMed ids in the original files of a task, in order, where they are below `raw`."""
    if raw is None or task.name not in HEADERS:
        return {}
    found = sorted(path for path in raw.rglob("*.txt") if re.fullmatch(HEADERS[task.name], path.name))
    return {path.name: TITLE.findall(decode(path.read_bytes(), path)) for path in found}
