"""`blurb vocab`: how tokenizers split the texts of the benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import click

from blurb.cli._made import click_command
from blurb.cli._options import TASKS_OR_FILES
from blurb.extensions.lab.vocabulary import picture
from blurb.extensions.reports.stats import TABLE_8
from blurb.messages.errors import SettingsError
from blurb.options import Argument, Option
from blurb.records import Rule
from blurb.terminal.output import json_text, show

if TYPE_CHECKING:
    from blurb.extensions.lab.vocabulary import Counts, VocabularyReport


class Model(TypedDict):
    """A tokenizer, over all datasets."""

    model: Annotated[str, "name"]
    vocabulary: Annotated[
        str, "SHA-256 of the entries by id: equal for equal vocabularies", Rule("pattern", "^[0-9a-f]{64}$")
    ]
    entries: Annotated[int, "size of the vocabulary"]
    lower_cases: Annotated[bool, "whether upper case is ignored"]
    subtokens_per_word: Annotated[float | None, "sub-tokens without special tokens, by blank-separated words"]
    subtokens_per_mention_word: Annotated[float | None, "the same within entity mentions"]
    whole_mentions: Annotated[float | None, "share of the entity mentions of which no word is split, 0 to 1"]
    unknown: Annotated[float | None, "share of sub-tokens that are the unknown token, 0 to 1"]


class Term(TypedDict):
    """How a model splits a term."""

    model: Annotated[str, "name"]
    term: Annotated[str, "the term"]
    pieces: Annotated[list[str], "its pieces, in the letters of the term; [UNK] for an unknown one"]


class Dataset(TypedDict):
    """What a model makes of a dataset, all splits together."""

    model: Annotated[str, "name"]
    task: Annotated[str, "the task"]
    inputs: Annotated[int, "sentences, pairs, questions"]
    words: Annotated[int, "blank-separated words"]
    subtokens: Annotated[int, "without special tokens"]
    unknown: Annotated[int, "of these, the unknown token"]
    mean_length: Annotated[float, "mean sub-tokens of an input, with special tokens"]
    wiki_books: Annotated[float | None, "Gu et al., Table 8, vocabulary of Wiki + Books"]
    pubmed: Annotated[float | None, "the same, vocabulary of PubMed"]
    limit: Annotated[int, "maximum sub-tokens of an input in training"]
    longer: Annotated[int, "inputs beyond it: cut, or read in windows"]
    mentions: Annotated[int, "entity mentions (NER)"]
    whole_mentions: Annotated[int, "of these, those of which no word is split"]
    mention_words: Annotated[int, "words in mentions"]
    mention_subtokens: Annotated[int, "their sub-tokens"]


class Vocabularies(TypedDict):
    """How tokenizers split terms and the texts of the datasets."""

    models: Annotated[list[Model], "a tokenizer each, over all datasets"]
    terms: Annotated[list[Term], "a line for each model and term"]
    tasks: Annotated[list[Dataset], "a line for each model and dataset, all splits together"]


@click_command("vocab", prints=Vocabularies)
def command(
    models: Annotated[tuple[str, ...], Argument(metavar="MODEL...", complete="models")],
    *,
    data: Annotated[Path | None, Option(help="Data folder; without it only the terms are shown.")] = None,
    selection: Annotated[str, TASKS_OR_FILES] = "all",
    terms: Annotated[
        Path | None,
        Option(help="Terms to split, one a line.  [default: those of Gu et al., Table 1]", path="file", metavar="FILE"),
    ] = None,
    plot: Annotated[
        Path | None,
        Option(
            help="Also plot the datasets to a .png, .svg or .pdf (needs the extra 'plots').",
            path="file",
            metavar="FILE",
        ),
    ] = None,
    trust_remote_code: Annotated[bool, Option(help="Allow the checkpoint to run its own code.")] = False,
    form: str,
) -> None:
    """Show how tokenizers split biomedical terms.

    With --data also the texts of the datasets.

    MODEL is any model of blurb run, or a folder with a tokenizer. Lengths count special tokens and are means over
    all splits, beside Table 8 of Gu et al. In csv, a line for each model and dataset (without --data: each term).
    """
    from blurb.extensions.lab.api.vocabulary import vocabulary

    if plot is not None:
        if data is None:
            raise SettingsError("--plot shows the datasets", fix="add --data.")
        picture.check(plot)
    reports, notes = vocabulary(models, data, selection, terms, trust_remote_code)
    if form == "json":
        whole: Vocabularies = {
            "models": [_model(one) for one in reports],
            "terms": _terms(reports),
            "tasks": _tasks(reports),
        }
        click.echo(json_text(whole), nl=False)
    elif form == "csv":
        lines: Sequence[Dataset] | Sequence[Term] = _tasks(reports) or _terms(reports)
        show(list(lines[0]), [list(line.values()) for line in lines], form)
    else:
        _print(reports)
    if plot is not None:
        picture.write(reports, plot)
    for note in notes:
        click.echo(note, err=True)


def _model(report: VocabularyReport) -> Model:
    return {
        "model": report.name,
        "vocabulary": report.hash,
        "entries": report.size,
        "lower_cases": report.lower_cases,
        "subtokens_per_word": report.share("pieces", "words"),
        "subtokens_per_mention_word": report.share("mention_pieces", "mention_words"),
        "whole_mentions": report.share("whole", "mentions"),
        "unknown": report.share("unknown", "pieces"),
    }


def _terms(reports: Sequence[VocabularyReport]) -> list[Term]:
    return [
        {"model": one.name, "term": term, "pieces": list(pieces)}
        for one in reports
        for term, pieces in one.terms.items()
    ]


def _tasks(reports: Sequence[VocabularyReport]) -> list[Dataset]:
    return [
        {
            "model": report.name,
            "task": task,
            "inputs": dataset.inputs,
            "words": dataset.words,
            "subtokens": dataset.pieces,
            "unknown": dataset.unknown,
            "mean_length": dataset.mean_length,
            "wiki_books": TABLE_8.get(task, (None, None))[0],
            "pubmed": TABLE_8.get(task, (None, None))[1],
            "limit": dataset.limit,
            "longer": dataset.longer,
            "mentions": dataset.mentions,
            "whole_mentions": dataset.whole,
            "mention_words": dataset.mention_words,
            "mention_subtokens": dataset.mention_pieces,
        }
        for report in reports
        for task, dataset in report.datasets.items()
    ]


def _print(reports: Sequence[VocabularyReport]) -> None:
    columns = ["model", "entries", "case", "sub-tokens a word", "in mentions", "mentions whole", "unknown"]
    summaries: list[list[object]] = [
        [
            each.name,
            each.size,
            "lowered" if each.lower_cases else "kept",
            _ratio(each.share("pieces", "words")),
            _ratio(each.share("mention_pieces", "mention_words")),
            _percent(each.share("whole", "mentions")),
            _percent(each.share("unknown", "pieces"), 3),
        ]
        for each in reports
    ]
    has_data = bool(reports[0].datasets)
    shown = len(columns) if has_data else 3
    show(columns[:shown], [summary[:shown] for summary in summaries], "table", numbers=columns[1:])
    for first, others in _twins(reports):
        click.echo(f"The vocabulary of {first} is also that of {', '.join(others)}, entry by entry.")
    click.echo()
    names = [each.name for each in reports]
    terms = reports[0].terms
    show(["term", *names], [[term, *("-".join(each.terms[term]) for each in reports)] for term in terms], "table")
    if has_data:
        _print_lengths(reports, names)


def _print_lengths(reports: Sequence[VocabularyReport], names: Sequence[str]) -> None:
    click.echo("Mean sub-tokens of an input over all splits, special tokens counted, and the difference from")
    click.echo("Table 8 of Gu et al. for the vocabulary of Wiki + Books")
    lengths, longer = [], []
    for task, first in reports[0].datasets.items():
        published = TABLE_8.get(task)
        means = [one.datasets[task].mean_length for one in reports]
        cells = [f"{mean:.1f}" + (f" {mean - published[0]:+6.1f}" if published else "") for mean in means]
        lengths.append([task, *cells, *(published or ("", ""))])
        longer.append([task, first.limit, *(_longer(one.datasets[task]) for one in reports)])
    show(["task", *names, "Wiki+Books", "PubMed"], lengths, "table", numbers=[*names, "Wiki+Books", "PubMed"])
    click.echo("Inputs longer than the limit of training (sub-tokens)")
    show(["task", "limit", *names], longer, "table", numbers=["limit", *names])


def _twins(reports: Sequence[VocabularyReport]) -> list[tuple[str, list[str]]]:
    """Models with the same vocabulary: the first, and the others."""
    groups: dict[str, list[str]] = {}
    for one in reports:
        groups.setdefault(one.hash, []).append(one.name)
    return [(first, others) for first, *others in groups.values() if others]


def _longer(one: Counts) -> str:
    return f"{100 * one.longer / one.inputs:.2f} %" if one.longer else "-"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _percent(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{100 * value:.{digits}f} %"
