"""`blurb vocab`: how tokenizers split the texts of the benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypedDict

import click

from blurb.cli._made import TASKS_OR_FILES, click_command
from blurb.extensions.reports.plots import _style
from blurb.grouping import by_key
from blurb.messages import SettingsError
from blurb.options import Argument, Option
from blurb.planning.options import TRUST
from blurb.records import Rule
from blurb.terminal.output import Column, json_text, print_records, print_rows


class Model(TypedDict):
    """A tokenizer, over all datasets."""

    model: Annotated[str, "name"]
    vocabulary: Annotated[
        str,
        "SHA-256 of the entries by id: equal for equal vocabularies",
        Rule("pattern", "^[0-9a-f]{64}$"),
    ]
    entries: Annotated[int, "size of the vocabulary"]
    lower_cases: Annotated[bool, "whether upper case is ignored"]
    subtokens_per_word: Annotated[
        float | None, "sub-tokens without special tokens, by blank-separated words"
    ]
    subtokens_per_mention_word: Annotated[float | None, "the same within entity mentions"]
    whole_mentions: Annotated[
        float | None, "share of the entity mentions of which no word is split, 0 to 1"
    ]
    unknown: Annotated[float | None, "share of sub-tokens that are the unknown token, 0 to 1"]


class Term(TypedDict):
    """How a model splits a term."""

    model: Annotated[str, "name"]
    term: Annotated[str, "the term"]
    pieces: Annotated[list[str], "its pieces, in the letters of the term; [UNK] for an unknown one"]


class Dataset(TypedDict):
    """The tokenization of a dataset by a model, all splits together."""

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
    report, notes = vocabulary(models, data, selection, terms, trust_remote_code)
    if form == "json":
        click.echo(json_text(report), nl=False)
    elif form == "csv" and report["tasks"]:
        print_records(form, Dataset, report["tasks"])
    elif form == "csv":
        print_records(form, Term, report["terms"])
    else:
        _print(report)
    if plot is not None:
        write_plot(report["tasks"], plot)
    for note in notes:
        click.echo(note, err=True)


def _print(report: Vocabularies) -> None:
    models, datasets = report["models"], report["tasks"]
    table = [
        Column("model"),
        Column("entries", number=","),
        Column("case", lambda each: "lowered" if each["lower_cases"] else "kept", "s"),
    ]
    if datasets:
        table += [
            Column("sub-tokens a word", "subtokens_per_word", ".2f"),
            Column("in mentions", "subtokens_per_mention_word", ".2f"),
            Column("mentions whole", lambda each: _percent(each["whole_mentions"], 1), "s"),
            Column("unknown", lambda each: _percent(each["unknown"], 3), "s"),
        ]
    print_records("table", Model, models, table)
    alike = by_key((each["vocabulary"], each["model"]) for each in models)
    for first, *others in alike.values():
        if others:
            click.echo(
                f"The vocabulary of {first} is also that of {', '.join(others)}, entry by entry."
            )
    click.echo()
    names = [each["model"] for each in models]
    # Of a term the lines of all models are as many lines apart as there are terms; likewise of a dataset.
    count = len(report["terms"]) // len(models)
    by_term = [report["terms"][place::count] for place in range(count)]
    rows = [[own[0]["term"], *("-".join(each["pieces"]) for each in own)] for own in by_term]
    print_rows(["term", *names], rows)
    if not datasets:
        return
    click.echo(
        "Mean sub-tokens of an input over all splits, special tokens counted, and the difference from\n"
        "Table 8 of Gu et al. for the vocabulary of Wiki + Books"
    )
    lengths, longer = [], []
    count = len(datasets) // len(models)
    for place in range(count):
        counts = datasets[place::count]
        task, published = counts[0]["task"], counts[0]["wiki_books"]
        cells = [
            f"{each['mean_length']:.1f}"
            + (f" {each['mean_length'] - published:+6.1f}" if published else "")
            for each in counts
        ]
        lengths.append([task, *cells, published, counts[0]["pubmed"]])
        shares = [
            f"{100 * each['longer'] / each['inputs']:.2f} %" if each["longer"] else "-"
            for each in counts
        ]
        longer.append([task, counts[0]["limit"], *shares])
    numbers = [*names, "Wiki+Books", "PubMed"]
    print_rows(["task", *numbers], lengths, numbers=numbers)
    click.echo("Inputs longer than the limit of training (sub-tokens)")
    print_rows(["task", "limit", *names], longer, numbers=["limit", *names])


def _percent(value: float | None, digits: int) -> str:
    return "" if value is None else f"{100 * value:.{digits}f} %"
