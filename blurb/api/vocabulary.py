"""What tokenizers do to the texts of the benchmark, for `blurb vocab`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.errors import DataError, SettingsError

if TYPE_CHECKING:
    from blurb.analysis.vocabulary import VocabularyReport
    from blurb.inputs.tokenizer import Tokenizer

Loaded = tuple[str, "Tokenizer", int | None]
"""Name, tokenizer, and the maximum number of sub-tokens of its encoder if there is one."""


def vocabulary(
    models: Sequence[str], data: Path | None = None, tasks: str = "all", terms: Path | None = None,
    remote_code: bool = False,
) -> tuple[list[VocabularyReport], list[str]]:  # fmt: skip
    """A report for each tokenizer, and notes about files that are missing.

    :param models: as for `blurb run`; a folder needs no weights, a tokenizer is enough
    :param data: data folder; without it the reports have the terms alone
    :param terms: file with a term a line; the terms of Gu et al., Table 1, if it is not given
    :raises ModelError: if a tokenizer cannot be loaded
    """
    from blurb import tasks as tasks_
    from blurb.analysis.vocabulary import count, report
    from blurb.analysis.vocabulary.terms import published, read

    listed = list(published()) if terms is None else read(terms)
    chosen = tasks_.select(tasks)
    if data is not None and not data.is_dir():
        raise DataError("the data folder does not exist; check --data.", data)
    loaded = [_load(reference, data, remote_code) for reference in models]
    names = _distinct([name for name, *_ in loaded], models)
    reports = [report(name, tokenizer, listed) for name, (_, tokenizer, _) in zip(names, loaded, strict=True)]
    notes: list[str] = []
    if data is None:
        return reports, notes

    from blurb import formulations
    from blurb.data.splits import elsewhere, path_of, read_split

    for task in chosen:
        there = [split for split in tasks_.SPLITS if path_of(task, data, split).is_file()]
        notes += [f"{task.name}: the {split} file is missing." for split in tasks_.SPLITS if split not in there]
        examples = [example for split in there for example in read_split(task, data, split)]
        if not examples:
            continue
        formulation = formulations.bind(task)
        for one, (_, tokenizer, most) in zip(reports, loaded, strict=True):
            limit = min(task.max_length, most or task.max_length)
            one.datasets[task.name] = count(tokenizer, formulation, examples, limit)
    if not reports[0].datasets:
        raise DataError(f"none of the data files exists.{elsewhere(chosen, data)}", data)
    return reports, notes


def _load(reference: str, data: Path | None, remote_code: bool) -> Loaded:
    from blurb.models import scratch
    from blurb.models.loading import capacity, load_tokenizer, outline
    from blurb.models.references import default_name, known_casing, locate

    if reference.startswith("baseline:"):
        raise SettingsError(
            f"{reference}: a baseline has no tokenizer; name a checkpoint or the folder of a tokenizer."
        )
    if reference.startswith(scratch.PREFIX):
        if data is None:
            raise SettingsError(f"{reference} takes its vocabulary from the data; add --data.")
        folder = Path(scratch.build(reference, data))
    else:
        folder, _ = locate(reference, None, remote_code)
    tokenizer = load_tokenizer(str(folder), remote_code, known_casing(reference))
    most = capacity(outline(str(folder), remote_code)) if (folder / "config.json").is_file() else None
    return default_name(reference), tokenizer, most


def _distinct(names: Sequence[str], references: Sequence[str]) -> list[str]:
    """The names, with the reference in the place of one that occurs twice."""
    return [name if names.count(name) == 1 else shown for name, shown in zip(names, references, strict=True)]
