"""`blurb vocab`: how tokenizers split the texts of the benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import click

from blurb import records
from blurb.cli._made import TASKS_OR_FILES, click_command
from blurb.extensions.reports.plots import _style
from blurb.extensions.reports.stats import TABLE_8
from blurb.messages import SettingsError
from blurb.options import Argument, Option
from blurb.planning.options import TRUST
from blurb.records import From, Rule
from blurb.terminal.output import Column, json_text, print_records, print_rows

if TYPE_CHECKING:
    from blurb.extensions.lab.vocabulary import VocabularyReport


class Model(TypedDict):
    """A tokenizer, over all datasets."""

    model: Annotated[str, "name", From("name")]
    vocabulary: Annotated[
        str,
        "SHA-256 of the entries by id: equal for equal vocabularies",
        Rule("pattern", "^[0-9a-f]{64}$"),
        From("hash"),
    ]
    entries: Annotated[int, "size of the vocabulary", From("size")]
    lower_cases: Annotated[bool, "whether upper case is ignored"]
    subtokens_per_word: Annotated[
        float | None,
        "sub-tokens without special tokens, by blank-separated words",
        From(lambda one: one.share("pieces", "words")),
    ]
    subtokens_per_mention_word: Annotated[
        float | None,
        "the same within entity mentions",
        From(lambda one: one.share("mention_pieces", "mention_words")),
    ]
    whole_mentions: Annotated[
        float | None,
        "share of the entity mentions of which no word is split, 0 to 1",
        From(lambda one: one.share("whole", "mentions")),
    ]
    unknown: Annotated[
        float | None,
        "share of sub-tokens that are the unknown token, 0 to 1",
        From(lambda one: one.share("unknown", "pieces")),
    ]


class Term(TypedDict):
    """How a model splits a term."""

    model: Annotated[str, "name", From("0")]
    term: Annotated[str, "the term", From("1")]
    pieces: Annotated[
        list[str],
        "its pieces, in the letters of the term; [UNK] for an unknown one",
        From(lambda one: list(one[2])),
    ]


class Dataset(TypedDict):
    """The tokenization of a dataset by a model, all splits together."""

    model: Annotated[str, "name", From("0")]
    task: Annotated[str, "the task", From("1")]
    inputs: Annotated[int, "sentences, pairs, questions", From("2.inputs")]
    words: Annotated[int, "blank-separated words", From("2.words")]
    subtokens: Annotated[int, "without special tokens", From("2.pieces")]
    unknown: Annotated[int, "of these, the unknown token", From("2.unknown")]
    mean_length: Annotated[
        float, "mean sub-tokens of an input, with special tokens", From("2.mean_length")
    ]
    wiki_books: Annotated[
        float | None,
        "Gu et al., Table 8, vocabulary of Wiki + Books",
        From(lambda one: TABLE_8.get(one[1], (None, None))[0]),
    ]
    pubmed: Annotated[
        float | None,
        "the same, vocabulary of PubMed",
        From(lambda one: TABLE_8.get(one[1], (None, None))[1]),
    ]
    limit: Annotated[int, "maximum sub-tokens of an input in training", From("2.limit")]
    longer: Annotated[int, "inputs beyond it: cut, or read in windows", From("2.longer")]
    mentions: Annotated[int, "entity mentions (NER)", From("2.mentions")]
    whole_mentions: Annotated[int, "of these, those of which no word is split", From("2.whole")]
    mention_words: Annotated[int, "words in mentions", From("2.mention_words")]
    mention_subtokens: Annotated[int, "their sub-tokens", From("2.mention_pieces")]


class Vocabularies(TypedDict):
    """How tokenizers split terms and the texts of the datasets."""

    models: Annotated[list[Model], "a tokenizer each, over all datasets"]
    terms: Annotated[list[Term], "a line for each model and term"]
    tasks: Annotated[list[Dataset], "a line for each model and dataset, all splits together"]


@click_command("vocab", prints=Vocabularies)
def command(
    models: Annotated[tuple[str, ...], Argument(metavar="MODEL...", complete="models")],
    *,
    data: Annotated[
        Path | None, Option(help="Data folder; without it only the terms are shown.")
    ] = None,
    selection: Annotated[str, TASKS_OR_FILES] = "all",
    terms: Annotated[
        Path | None,
        Option(
            help="Terms to split, one a line.  [default: those of Gu et al., Table 1]",
            path="file",
            metavar="FILE",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        Option(
            help="Also plot the datasets to a .png, .svg or .pdf (needs the extra 'plots').",
            path="file",
            metavar="FILE",
        ),
    ] = None,
    trust_remote_code: Annotated[bool, TRUST] = False,
    form: str,
) -> None:
    """Show how tokenizers split biomedical terms.

    With --data also the texts of the datasets.

    MODEL is any model of blurb run, or a folder with a tokenizer. Lengths count special tokens and are means over
    all splits, beside Table 8 of Gu et al. In csv, a line for each model and dataset (without --data: each term).
    """
    from blurb.extensions.lab.vocabulary import vocabulary, write_plot

    if plot is not None:
        if data is None:
            raise SettingsError("--plot shows the datasets", fix="add --data.")
        _style.check(plot)
    reports, notes = vocabulary(models, data, selection, terms, trust_remote_code)
    splits = [
        (report.name, term, pieces) for report in reports for term, pieces in report.terms.items()
    ]
    counts = [
        (report.name, task, counted)
        for report in reports
        for task, counted in report.datasets.items()
    ]
    if form == "json":
        click.echo(
            json_text(
                {
                    "models": [records.of(Model, report) for report in reports],
                    "terms": [records.of(Term, split) for split in splits],
                    "tasks": [records.of(Dataset, count) for count in counts],
                }
            ),
            nl=False,
        )
    elif form == "csv":
        print_records(form, Dataset if counts else Term, counts or splits)
    else:
        _print(reports)
    if plot is not None:
        write_plot(reports, plot)
    for note in notes:
        click.echo(note, err=True)


def _print(reports: Sequence[VocabularyReport]) -> None:
    table = [
        Column("model", "name"),
        Column("entries", "size", ","),
        Column("case", lambda each: "lowered" if each.lower_cases else "kept", "s"),
    ]
    if reports[0].datasets:
        table += [
            Column("sub-tokens a word", lambda each: each.share("pieces", "words"), ".2f"),
            Column(
                "in mentions", lambda each: each.share("mention_pieces", "mention_words"), ".2f"
            ),
            Column(
                "mentions whole", lambda each: _percent(each.share("whole", "mentions"), 1), "s"
            ),
            Column("unknown", lambda each: _percent(each.share("unknown", "pieces"), 3), "s"),
        ]
    print_records("table", Model, reports, table)
    alike: dict[str, list[str]] = {}
    for each in reports:
        alike.setdefault(each.hash, []).append(each.name)
    for first, *others in alike.values():
        if others:
            click.echo(
                f"The vocabulary of {first} is also that of {', '.join(others)}, entry by entry."
            )
    click.echo()
    names = [each.name for each in reports]
    print_rows(
        ["term", *names],
        [[term, *("-".join(each.terms[term]) for each in reports)] for term in reports[0].terms],
        "table",
    )
    if not reports[0].datasets:
        return
    click.echo(
        "Mean sub-tokens of an input over all splits, special tokens counted, and the difference from\n"
        "Table 8 of Gu et al. for the vocabulary of Wiki + Books"
    )
    lengths, longer = [], []
    for task in reports[0].datasets:
        published = TABLE_8.get(task)
        counts = [each.datasets[task] for each in reports]
        cells = [
            f"{each.mean_length:.1f}"
            + (f" {each.mean_length - published[0]:+6.1f}" if published else "")
            for each in counts
        ]
        lengths.append([task, *cells, *(published or ("", ""))])
        shares = [
            f"{100 * each.longer / each.inputs:.2f} %" if each.longer else "-" for each in counts
        ]
        longer.append([task, counts[0].limit, *shares])
    print_rows(
        ["task", *names, "Wiki+Books", "PubMed"],
        lengths,
        "table",
        numbers=[*names, "Wiki+Books", "PubMed"],
    )
    click.echo("Inputs longer than the limit of training (sub-tokens)")
    print_rows(["task", "limit", *names], longer, "table", numbers=["limit", *names])


def _percent(value: float | None, digits: int) -> str:
    return "" if value is None else f"{100 * value:.{digits}f} %"
