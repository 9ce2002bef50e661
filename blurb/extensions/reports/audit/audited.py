"""Audited datasets, read from their files, and findings: ids, counts and labels, never text of a corpus."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from blurb.corpora.original_readers import load_original
from blurb.data.loading import path_of, read_split
from blurb.data.schema import Example, group_by_input
from blurb.inputs.tokenized_split import Read, TokenizedSplit
from blurb.messages import BlurbError, DataError, opt
from blurb.records import Count
from blurb.system.files import read_bytes
from blurb.system.text_files import decode_text
from blurb.tasks import SPLITS, Split, Task

LONG = 6
"""Minimum number of words of a duplicate that counts as `long`: shorter inputs, such as headings, repeat by chance."""
HEADERS = {"ncbi-disease": r"NCBI(?:train|develop|test)set_corpus\.txt"}
"""Task whose BLURB files do not name documents -> pattern of the file names of its original release (PubTator)."""
TITLE = re.compile(r"^(\d+)\|t\|", re.MULTILINE)


@dataclass(frozen=True)
class AuditFinding:
    """A finding of the audit.

    :param check: name of the check
    :param task: the task, or two that share text
    :param where: the split, or two of them
    :param kind: kind of finding, if the check has several
    :param count: number of cases
    :param distinct: distinct inputs among them, in checks for copies
    :param long: cases of six words or more, likewise
    :param effect: what it does to training or scores
    :param ids: ids of the affected examples or documents
    :param others: for each of them the example that it copies
    """

    check: str
    task: str
    where: str
    kind: str = field(default="", kw_only=True)
    count: Count
    distinct: Count | None = field(default=None, kw_only=True)
    long: Count | None = field(default=None, kw_only=True)
    effect: str
    ids: Sequence[str] = ()
    others: Sequence[str] = ()


@dataclass(frozen=True)
class AuditedTask:
    """A task with the examples of the splits present.

    :param originals: examples with the original text, for a task whose files have dummies
    :param readings: each split as tokenized for an encoder
    :param headers: PubMed ids by file of the original release, in order, for a task that does not name documents
    :param files: bytes of each split's file, for what readers discard
    """

    task: Task
    splits: Mapping[Split, Sequence[Example]]
    originals: Mapping[Split, Sequence[Example]] = field(default_factory=dict)
    readings: Mapping[Split, TokenizedSplit] = field(default_factory=dict)
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[Split, bytes] = field(default_factory=dict)

    @cached_property
    def by_identity(self) -> dict[Split, dict[tuple[object, ...], list[Example]]]:
        """Examples of each split by input; cached, as several checks need it."""
        return {split: group_by_input(rows) for split, rows in self.splits.items()}


def gather(
    tasks: Sequence[Task], folder: Path, raw: Path | None = None, read: Read | None = None
) -> tuple[list[AuditedTask], list[AuditFinding], list[str]]:
    """Returns the corpora, findings about unreadable files, and notes about missing ones.

    :raises DataError: if a folder does not exist
    """
    for path, option in ((folder, "data"), (raw, "raw")):
        if path is not None and not path.is_dir():
            raise DataError(
                "the folder does not exist", path, fix=f"check the path given with --{option}."
            )
    corpora, unreadable, notes = [], [], []
    for task in tasks:
        splits, files = {}, {}
        for split in SPLITS:
            path = path_of(task, folder, split)
            if not path.is_file():
                notes.append(f"{task.name}: {split} is missing ({task.files[split]}).")
                continue
            try:
                splits[split] = read_split(task, folder, split)
            except DataError as error:
                # The message may quote the file; it goes to the terminal only.
                unreadable.append(
                    AuditFinding(
                        "unreadable",
                        task.name,
                        split,
                        1,
                        "not audited, and cannot be run",
                        kind="as a whole" if error.line is None else f"line {error.line}",
                    )
                )
                notes.append(str(error))
                continue
            files[split] = read_bytes(path)
        originals = {}
        if raw is not None and task.dummified and task.original:
            try:
                originals = {
                    split: dataset.to_list()
                    for split, dataset in load_original(task, raw, splits).splits.items()
                }
            except BlurbError as error:
                # The file is missing or invalid, or the extra that reads it is not installed.
                notes.append(
                    f"{task.name}: comparing it with other tasks by text with dummies, without originals: {error}"
                )
        headers = _headers(task, raw)
        if task.name in HEADERS and not headers:
            notes.append(
                f"{task.name}: its files do not name documents; repeated ones (8528200) only show in the original "
                f"release ({opt('raw')} with NCBItrainset_corpus.txt)."
            )
        readings = {
            split: read(task, rows)
            for split, rows in splits.items()
            # The checks only need words and entities.
            if read is not None and rows[0].keys() & {"tokens", "head"}
        }
        corpora.append(AuditedTask(task, splits, originals, readings, headers, files))
    # LinkBERT's files name no documents.
    nameless = [
        corpus.task.name
        for corpus in corpora
        if corpus.splits
        and not corpus.headers
        and not any(row.get("doc_id") for rows in corpus.splits.values() for row in rows)
    ]
    if nameless:
        notes.append(
            f"Documents are not compared where the files do not name them: {', '.join(nameless)}."
        )
    return corpora, unreadable, notes


def _headers(task: Task, raw: Path | None) -> dict[str, list[str]]:
    """PubMed ids in the original files of a task below `raw`, in order."""
    if raw is None or task.name not in HEADERS:
        return {}
    return {
        path.name: TITLE.findall(decode_text(read_bytes(path), path))
        for path in sorted(raw.rglob("*.txt"))
        if re.fullmatch(HEADERS[task.name], path.name)
    }
