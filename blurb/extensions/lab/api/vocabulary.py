"""What tokenizers do to the texts of the benchmark, for `blurb vocab`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from blurb import formulations
from blurb import tasks as tasks_
from blurb.checkpoints import Checkpoint, scratch
from blurb.checkpoints.references import CheckpointPlace, default_name, locate
from blurb.checkpoints.terms import published
from blurb.data.loading import elsewhere, path_of, read_split
from blurb.extensions.lab.vocabulary import count, report
from blurb.learners import is_named
from blurb.messages.errors import DataError, SettingsError
from blurb.messages.spelling import opt
from blurb.system.process import gc_disabled

if TYPE_CHECKING:
    from blurb.data.schema import Example
    from blurb.extensions.lab.vocabulary import VocabularyReport
    from blurb.inputs.tokenizer import Tokenizer
    from blurb.tasks import Task

Loaded = tuple[str, "Tokenizer", int | None]
"""Name, tokenizer, and the maximum number of sub-tokens of its encoder if there is one."""


def vocabulary(
    models: Sequence[str],
    data: Path | None = None,
    tasks: str = "all",
    terms: Path | None = None,
    remote_code: bool = False,
) -> tuple[list[VocabularyReport], list[str]]:
    """A report for each tokenizer, and notes about files that are missing.

    :param models: as for `blurb run`; a folder needs no weights, a tokenizer is enough
    :param data: data folder; without it the reports have the terms alone
    :param terms: file with a term a line; the terms of Gu et al., Table 1, if it is not given
    :raises ModelError: if a tokenizer cannot be loaded
    """
    from blurb.extensions.lab.vocabulary.terms import read

    listed = list(published()) if terms is None else read(terms)
    chosen = tasks_.load_selection(tasks)
    if data is not None and not data.is_dir():
        raise DataError("the data folder does not exist", data, fix=f"check {opt('data')}.")
    loaded = [_load(reference, data, remote_code) for reference in models]
    names = _distinct([name for name, *_ in loaded], models)
    reports = [report(name, tokenizer, listed) for name, (_, tokenizer, _) in zip(names, loaded, strict=True)]
    notes: list[str] = []
    if data is None:
        return reports, notes

    there = {task.name: [each for each in tasks_.SPLITS if path_of(task, data, each).is_file()] for task in chosen}
    notes += [
        f"{name}: the {split} file is missing."
        for name, files in there.items()
        for split in tasks_.SPLITS
        if split not in files
    ]

    def examples_of(task: Task) -> list[Example]:
        return [example for split in there[task.name] for example in read_split(task, data, split)]

    # Tokenizers work without Python's lock: while they do, the next dataset is read and others' sub-tokens are counted.
    # A search for cycles would go through millions of offsets that have none: a sixth of the time.
    with gc_disabled(), ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(len(loaded)) as counters:
        for task, examples in _one_ahead(reader, examples_of, chosen):
            if not examples:
                continue
            counts = counters.map(
                count,
                [tokenizer for _, tokenizer, _ in loaded],
                repeat(formulations.bind(task)),
                repeat(examples),
                [min(task.max_length, most or task.max_length) for *_, most in loaded],
            )
            for each, counted in zip(reports, counts, strict=True):
                each.datasets[task.name] = counted
    if not reports[0].datasets:
        raise DataError(f"none of the data files exists.{elsewhere(chosen, data)}", data)
    return reports, notes


def _load(reference: str, data: Path | None, remote_code: bool) -> Loaded:
    if is_named(reference):
        raise SettingsError(
            "a baseline has no tokenizer", where=reference, fix="name a checkpoint or the folder of a tokenizer."
        )
    if reference.startswith(scratch.PREFIX):
        place = CheckpointPlace(scratch.located(reference, data))
    else:
        place = locate(reference, None, remote_code)
    checkpoint = Checkpoint(place.folder, remote_code, place.casing)
    most = checkpoint.size.most if (place.folder / "config.json").is_file() else None
    return default_name(reference), checkpoint.tokenizer, most


def _one_ahead(
    reader: ThreadPoolExecutor, read: Callable[[Task], list[Example]], chosen: Sequence[Task]
) -> Iterator[tuple[Task, list[Example]]]:
    """Each task with its examples; only those of the next one are read meanwhile, as a corpus takes memory."""
    waiting = [reader.submit(read, task) for task in chosen[:1]]
    for place, task in enumerate(chosen):
        examples = waiting.pop().result()
        waiting = [reader.submit(read, later) for later in chosen[place + 1 : place + 2]]
        yield task, examples


def _distinct(names: Sequence[str], references: Sequence[str]) -> list[str]:
    """The names, with the reference in the place of one that occurs twice."""
    return [name if names.count(name) == 1 else shown for name, shown in zip(names, references, strict=True)]
