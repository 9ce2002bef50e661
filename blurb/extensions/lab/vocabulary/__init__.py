"""Tokenizers on the texts of the benchmark: Tables 1 and 8 of Gu et al. for any of them, and their plot."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from blurb import formulations, tasks as tasks_
from blurb.checkpoints.references import default_name, published_terms
from blurb.checkpoints.source import open_checkpoint
from blurb.data.loading import check_folder, hint_at_folder, path_of, read_split
from blurb.data.schema import Example
from blurb.extensions.reports.plots import scores
from blurb.extensions.reports.plots._style import QUIET, lanes, save, start_figure
from blurb.extensions.reports.stats import TABLE_8
from blurb.formulations._base import Formulation
from blurb.inputs.tokenizer import Tokenizer, flatten_subtokens
from blurb.learners import is_named
from blurb.messages import DataError, SettingsError
from blurb.system.files import json_hash
from blurb.system.process import gc_disabled
from blurb.table_files import lines_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from blurb.extensions.lab.cli.vocab import Dataset, Vocabularies


def terms_of(path: Path) -> list[str]:
    """The terms of a file, one a line; empty lines and repetitions are left out.

    :raises DataError: if the file is missing, is not UTF-8, or has no terms
    """
    terms = []
    for line, text in lines_of(path):
        if "\0" in text:
            raise line.error("the line is not text", "save the terms as UTF-8, one a line.")
        terms.append(text.strip())
    return list(dict.fromkeys(filter(None, terms)))


def split(tokenizer: Tokenizer, terms: Sequence[str]) -> dict[str, list[str]]:
    """The pieces of each term as text; those that show nothing (blanks alone) are left out, an unknown one is `[UNK]`.

    The text is the term's own, so upper case stays where the tokenizer lowers it.
    """
    unknown = tokenizer.inner.unk_token_id
    by_term = {}
    for term, pieces in zip(terms, tokenizer.subtokens(terms), strict=True):
        shown = (
            "[UNK]" if index == unknown else term[start:end]
            for index, start, end in zip(pieces.ids, pieces.starts, pieces.ends, strict=True)
        )
        by_term[term] = [piece for piece in shown if piece]
    return by_term


def vocabulary_hash(tokenizer: Tokenizer) -> str:
    """SHA-256 of the entries by id."""
    entries = sorted(tokenizer.inner.get_vocab().items(), key=lambda entry: (entry[1], entry[0]))
    return json_hash(entries)


def count(
    model: str,
    tokenizer: Tokenizer,
    formulation: Formulation,
    examples: Sequence[Example],
    limit: int,
) -> Dataset:
    """The counts of the examples of a dataset, read as in training.

    :param model: name of the tokenizer
    :param limit: maximum number of sub-tokens of an input
    """
    texts = formulation.texts(formulation.units(examples))
    frame = tokenizer.special_tokens
    around = (
        (frame.prefix, frame.suffix)
        if len(texts) == 1
        else (frame.prefix, frame.middle, frame.pair_suffix)
    )
    has_mentions = formulation.task.task_type.borders
    placed = tokenizer.subtokens(texts[0]) if has_mentions else []
    counted = (
        [flatten_subtokens(placed)] if has_mentions else [tokenizer.counted(part) for part in texts]
    )
    lengths = np.sum([sizes for _, sizes in counted], axis=0) + sum(map(len, around))
    unknown = tokenizer.inner.unk_token_id
    wiki_books, pubmed = TABLE_8.get(formulation.task.name, (None, None))
    counts: Dataset = {
        "model": model,
        "task": formulation.task.name,
        "inputs": len(lengths),
        "words": sum(len(text.split()) for part in texts for text in part),
        "subtokens": sum(len(ids) for ids, _ in counted),
        "unknown": 0 if unknown is None else sum(int((ids == unknown).sum()) for ids, _ in counted),
        "mean_length": int(lengths.sum()) / len(lengths),
        "wiki_books": wiki_books,
        "pubmed": pubmed,
        "limit": limit,
        "longer": int((lengths > limit).sum()),
        "mentions": 0,
        "whole_mentions": 0,
        "mention_words": 0,
        "mention_subtokens": 0,
    }
    if not has_mentions:
        return counts
    # A sub-token belongs to the word that it begins in.
    tags = np.array([tag[0] for row in examples for tag in row["tags"]])
    inside = tags != "O"
    # Every text has a place of its own on one line of characters, with a blank between two, as between its words.
    begins = np.cumsum([0, *(len(text) + 1 for text in texts[0])])
    starts = [
        np.array(one.starts, dtype=np.int64) + begin
        for one, begin in zip(placed, begins, strict=False)
    ]
    ends = np.cumsum([len(word) + 1 for row in examples for word in row["tokens"]])
    pieces = np.bincount(
        np.searchsorted(ends, np.concatenate(starts), side="right"), minlength=len(ends)
    )
    mention = np.cumsum(tags == "B") - 1
    parted = np.bincount(mention[inside], weights=pieces[inside] != 1)
    return {
        **counts,
        "mentions": len(parted),
        "whole_mentions": int((parted == 0).sum()),
        "mention_words": int(inside.sum()),
        "mention_subtokens": int(pieces[inside].sum()),
    }


def vocabulary(
    models: Sequence[str],
    data: Path | None = None,
    tasks: str = "all",
    terms: Path | None = None,
    remote_code: bool = False,
) -> tuple[Vocabularies, list[str]]:
    """How tokenizers split terms and texts, in the order of the models, and notes about files that are missing.

    :param models: as for `blurb run`; a folder needs no weights, a tokenizer is enough
    :param data: data folder; without it there are the terms alone
    :param terms: file with a term a line; the terms of Gu et al., Table 1, if it is not given
    :raises ModelError: if a tokenizer cannot be loaded
    """
    listed = list(published_terms()) if terms is None else terms_of(terms)
    chosen = tasks_.load_selection(tasks)
    if data is not None:
        check_folder(data)
    loaded = [_load(reference, data, remote_code) for reference in models]
    names = [name for name, *_ in loaded]
    named = [
        name if names.count(name) == 1 else reference
        for reference, name in zip(models, names, strict=True)
    ]
    tokenizers = [tokenizer for _, tokenizer, _ in loaded]
    by_model: list[list[Dataset]] = [[] for _ in loaded]
    if data is None:
        return _report(named, tokenizers, listed, by_model), []
    present = {
        task.name: [each for each in tasks_.SPLITS if path_of(task, data, each).is_file()]
        for task in chosen
    }
    notes = [
        f"{name}: the {each} file is missing."
        for name, files in present.items()
        for each in tasks_.SPLITS
        if each not in files
    ]

    def examples_of(task: tasks_.Task) -> list[Example]:
        return [
            example for split in present[task.name] for example in read_split(task, data, split)
        ]

    # Tokenizers work without Python's lock: while they do, the next dataset is read and others' sub-tokens are counted.
    # A search for cycles would go through millions of offsets that have none: a sixth of the time.
    with (
        gc_disabled(),
        ThreadPoolExecutor(1) as reader,
        ThreadPoolExecutor(len(loaded)) as counters,
    ):
        # Only the examples of the next task are read meanwhile, as a corpus takes memory.
        waiting = [reader.submit(examples_of, task) for task in chosen[:1]]
        for place, task in enumerate(chosen):
            examples = waiting.pop().result()
            waiting = [reader.submit(examples_of, later) for later in chosen[place + 1 : place + 2]]
            if not examples:
                continue
            counts = counters.map(
                count,
                named,
                tokenizers,
                repeat(formulations.bind(task)),
                repeat(examples),
                [min(task.max_length, most or task.max_length) for *_, most in loaded],
            )
            for own, dataset in zip(by_model, counts, strict=True):
                own.append(dataset)
    if not by_model[0]:
        raise DataError(f"none of the data files exists.{hint_at_folder(chosen, data)}", data)
    return _report(named, tokenizers, listed, by_model), notes


def _report(
    names: Sequence[str],
    tokenizers: Sequence[Tokenizer],
    terms: Sequence[str],
    datasets: Sequence[Sequence[Dataset]],
) -> Vocabularies:
    pairs = list(zip(names, tokenizers, strict=True))
    return {
        "models": [
            {
                "model": name,
                "vocabulary": vocabulary_hash(tokenizer),
                "entries": len(tokenizer.inner.get_vocab()),
                "lower_cases": tokenizer.lower_cases,
                "subtokens_per_word": _share(own, "subtokens", "words"),
                "subtokens_per_mention_word": _share(own, "mention_subtokens", "mention_words"),
                "whole_mentions": _share(own, "whole_mentions", "mentions"),
                "unknown": _share(own, "unknown", "subtokens"),
            }
            for (name, tokenizer), own in zip(pairs, datasets, strict=True)
        ],
        "terms": [
            {"model": name, "term": term, "pieces": pieces}
            for name, tokenizer in pairs
            for term, pieces in split(tokenizer, terms).items()
        ],
        "tasks": [dataset for own in datasets for dataset in own],
    }


def _share(datasets: Sequence[Any], part: str, whole: str) -> float | None:
    """The ratio of two counts over all datasets; None where the second is 0."""
    sums = [sum(each[name] for each in datasets) for name in (part, whole)]
    return sums[0] / sums[1] if sums[1] else None


def _load(
    reference: str, data: Path | None, remote_code: bool
) -> tuple[str, Tokenizer, int | None]:
    """Name, tokenizer, and the maximum number of sub-tokens of its encoder if there is one."""
    if is_named(reference):
        raise SettingsError(
            "a baseline has no tokenizer",
            where=reference,
            fix="name a checkpoint or the folder of a tokenizer.",
        )
    checkpoint = open_checkpoint(reference, data, remote_code)
    most = checkpoint.size.most if (checkpoint.folder / "config.json").is_file() else None
    return default_name(reference), checkpoint.tokenizer, most


COLOURS = (*scores.COLOURS, QUIET)
"""The palette of Okabe and Ito; the marks differ, too."""
MARKS = "osD^vPX"


def write_plot(datasets: Sequence[Dataset], path: Path) -> None:
    """Writes the plot in the format given by the suffix of `path`; creates its folder if necessary.

    :param datasets: those of a model, then those of the next
    """
    columns = ("model", "task", "subtokens", "words", "mentions", "whole_mentions")
    save(
        path, lambda: draw(datasets), [[dict(each)[name] for name in columns] for each in datasets]
    )


def draw(datasets: Sequence[Dataset]) -> Figure:
    """Two panels, a row a dataset, a mark a tokenizer."""
    tasks = list(dict.fromkeys(each["task"] for each in datasets))
    named = [each["task"] for each in datasets[: len(tasks)] if each["mentions"]]
    figure, (left, right) = start_figure(6.3, 1.1 + 0.2 * len(tasks), across=2)
    for number, begin in enumerate(range(0, len(datasets), len(tasks))):
        look: dict[str, Any] = {
            "color": COLOURS[number % 7],
            "marker": MARKS[number % 7],
            "linestyle": "none",
            "markersize": 4.5,
        }
        own = datasets[begin : begin + len(tasks)]
        with_mentions = [each for each in own if each["mentions"]]
        ratios = [each["subtokens"] / max(1, each["words"]) for each in own]
        left.plot(ratios, range(len(own)), label=own[0]["model"], **look)
        shares = [100 * each["whole_mentions"] / each["mentions"] for each in with_mentions]
        right.plot(shares, range(len(shares)), **look)
    for axes, names, label in (
        (left, tasks, "sub-tokens a word"),
        (right, named, "mentions without a split word, %"),
    ):
        axes.set_yticks(range(len(names)), names)
        lanes(axes, len(names))
        axes.set_xlabel(label)
    count = min(3, len(datasets) // len(tasks))
    figure.legend(loc="outside lower left", ncols=count, frameon=False, fontsize=7)
    return figure
