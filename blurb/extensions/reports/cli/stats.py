"""`blurb data stats`: sizes, lengths, labels, and the scores of trivial answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, TypedDict

import click

from blurb import records, tasks
from blurb.cli._made import TASKS_OR_FILES, click_command
from blurb.data.loading import check_folder, hint_at_folder, path_of, read_split
from blurb.extensions.reports.plots import _style, input_lengths
from blurb.extensions.reports.stats import RULE, TABLE_8, Statistics, measure
from blurb.formulations._base import majority_score
from blurb.inputs.tokenized_split import Read
from blurb.messages import DataError
from blurb.options import Option
from blurb.planning.options import CASING
from blurb.planning.steps import find_folders, make_reader
from blurb.records import Count, From
from blurb.tasks import SPLITS, Split, Task
from blurb.terminal.output import Column, json_text, print_records, print_rows

MOST_LABELS = 50
"""Maximum number of labels listed per dataset; a task file may declare any number."""


class Sizes(TypedDict):
    """Lengths of inputs."""

    mean: Annotated[float, "mean length"]
    p5: Annotated[Count, "length that 5 % of the inputs do not exceed", From("quantiles.5")]
    p25: Annotated[Count, "length that 25 % of the inputs do not exceed", From("quantiles.25")]
    p50: Annotated[Count, "length that 50 % of the inputs do not exceed", From("quantiles.50")]
    p75: Annotated[Count, "length that 75 % of the inputs do not exceed", From("quantiles.75")]
    p95: Annotated[Count, "length that 95 % of the inputs do not exceed", From("quantiles.95")]
    longest: Annotated[Count, "greatest length"]
    longest_id: Annotated[str, "id of the first of the longest inputs"]


class Table8(TypedDict):
    """Mean lengths in Table 8 of Gu et al."""

    wiki_books: Annotated[float, "BERT's", From("0")]
    pubmed: Annotated[float, "PubMedBERT's", From("1")]


class Gold(TypedDict):
    """The gold scores."""

    mean: Annotated[float, "mean", From("0")]
    sd: Annotated[float, "standard deviation", From("1")]


class Described(TypedDict):
    """Statistics of a split."""

    task: Annotated[str, "name of the task, as in `blurb tasks`", From("task.name")]
    split: Annotated[Split, "split"]
    unit: Annotated[str, "what `units` counts", From("task.unit")]
    units: Annotated[Count, "size in that unit"]
    inputs: Annotated[Count, "number of examples"]
    words: Annotated[Sizes, "lengths in words"]
    sub_tokens: Annotated[
        Sizes | None, "lengths in sub-tokens; null without --model", From("subtokens")
    ]
    limit: Annotated[
        Count | None, "longest input that training reads, in sub-tokens; null without --model"
    ]
    truncated: Annotated[Count | None, "inputs that are cut; null without --model"]
    windowed: Annotated[Count | None, "inputs read in windows; null without --model"]
    table_8: Annotated[
        Table8 | None,
        "mean lengths of two vocabularies in Table 8 of Gu et al.; null outside BLURB",
        From(lambda one: TABLE_8.get(one.task.name)),
    ]
    labels: Annotated[dict[str, Count], "count of each label"]
    score: Annotated[Gold | None, "of the gold scores (similarity); null for other types"]
    adjacent_entities: Annotated[
        Count | None,
        "entities that touch another of their type; null for other types",
        From("adjacent"),
    ]
    io_ceiling: Annotated[float | None, "F1 of perfect IO tags, times 100; null for other types"]
    majority: Annotated[
        float | None, "score of the most frequent answer, times 100; null without train"
    ]
    examples_per_word: Annotated[
        float | None,
        "examples divided by mean words per example; null but for train",
        From("ratio"),
    ]
    expected: Annotated[
        Literal["bigrams", "sequence"] | None,
        "what is expected to win: bigrams below a ratio of 1,500; null but for train, and for tags and scores",
    ]


def chosen(
    *,
    data: Annotated[
        Path | None, Option(help="Data folder in BLURB's layout (not needed for task files).")
    ] = None,
    selection: Annotated[str, TASKS_OR_FILES] = "all",
    model: Annotated[
        str | None, Option(help="Checkpoint whose tokenizer to use.", complete="models")
    ] = None,
    casing: Annotated[str | None, CASING] = None,
) -> tuple[list[Task], Path, Read | None]:
    """Tasks, their data folder, and the function that tokenizes a split as the model does; None without one."""
    named = tasks.load_selection(selection)
    folder, _ = find_folders("blurb", data, None, named, has_suite=False)
    return named, folder, None if model is None else make_reader(model, folder, casing)


@click_command("stats", chosen, prints=list[Described])
def stats(
    *,
    plot: Annotated[
        Path | None,
        Option(
            help="Also plot the lengths to a .png, .svg or .pdf (needs the extra 'plots').",
            path="file",
            metavar="FILE",
        ),
    ] = None,
    form: str,
    **given: Any,
) -> None:
    """Show the size, lengths and labels of every split.

    Also the majority's score, and the ceiling of IO tags.

    For train also the number of examples divided by their mean number of words, a rule of thumb for whether bigrams or
    sequence models will do better.
    Lengths are in words; with --model also in sub-tokens (special tokens included), compared with Table 8 of Gu et
    al., and with how much training cuts at the task's or the encoder's maximum length.
    """
    if plot is not None:
        _style.check(plot)
    named, folder, read = chosen(**given)
    check_folder(folder)
    splits, notes = [], []
    for task in named:
        there = [split for split in SPLITS if path_of(task, folder, split).is_file()]
        notes += [
            f"{task.name}: the {split} file is missing." for split in SPLITS if split not in there
        ]
        rows = {split: read_split(task, folder, split) for split in there}
        splits += measure(task, rows, read, majority_score)
    if not splits:
        raise DataError(f"none of the data files exists.{hint_at_folder(named, folder)}", folder)
    if form == "table":
        _show_tables(splits)
    elif form == "json":
        click.echo(json_text([records.of(Described, one) for one in splits]), nl=False)
    else:
        lines = [_flat(records.of(Described, one)) for one in splits]
        columns = list(dict.fromkeys(column for line in lines for column in line))
        print_rows(columns, [[line.get(column) for column in columns] for line in lines], form)
    if plot is not None:
        input_lengths.write(splits, plot)
    for note in notes:
        click.echo(note, err=True)


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested objects as columns (`words_mean`). Labels are one cell, as they differ by dataset."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict) and key != "labels":
            flat.update(_flat(value, f"{prefix}{key}_"))
        elif value is not None or key not in ("words", "sub_tokens", "table_8", "score"):
            flat[prefix + key] = value
    return flat


def _show_tables(described: Sequence[Statistics]) -> None:
    """Prints sizes and lengths of every split, a row per label, and with sub-tokens Table 8."""
    subtokens = any(each.subtokens for each in described)
    table = [
        Column("dataset", "task.name"),
        Column("split"),
        Column("units", number=","),
        Column("inputs", number=","),
        Column("words", "words.mean", ".1f"),
        Column("longest", "words.longest", ","),
    ]
    if subtokens:
        table += [
            Column("sub-tokens", "subtokens.mean", ".1f"),
            Column("longest", "subtokens.longest", ","),
            Column("limit", number=","),
            Column("beyond", _beyond, "s"),
        ]
    table += [Column("majority", number=".2f"), Column("IO", "io_ceiling", ".2f")]
    print_records("table", Described, described, table)
    click.echo(
        "units: counted as in the paper's Table 3; words, sub-tokens: mean per input; IO: F1 of perfect tags without B"
    )
    if subtokens:
        click.echo("beyond: inputs longer than the limit; they are cut, or (w) read in windows")
    click.echo()
    named = {each.task.name: each.task for each in described}
    cells = {(each.task.name, each.split): each for each in described}
    rows = []
    for name, task in named.items():
        splits = [cells.get((name, split)) for split in SPLITS]
        labels = list(next(each for each in splits if each).labels)
        for label in labels[:MOST_LABELS]:
            rows.append(
                [name, label, *("-" if each is None else _share(each, label) for each in splits)]
            )
        if rest := labels[MOST_LABELS:]:
            sums = [
                "-" if each is None else f"{sum(each.labels[label] for label in rest):,}"
                for each in splits
            ]
            rows.append([name, f"({len(rest):,} more: use --format csv)", *sums])
        if "score" in task.task_type.columns:
            scores = [each.score if each else None for each in splits]
            rows.append(
                [
                    name,
                    "score: mean, sd",
                    *(f"{one[0]:.2f}, {one[1]:.2f}" if one else "-" for one in scores),
                ]
            )
    print_rows(("dataset", "label", *SPLITS), rows, "table", numbers=SPLITS)
    if ruled := [each for each in described if each.ratio is not None]:
        columns = [
            Column("dataset", "task.name"),
            Column("examples", "inputs", ","),
            Column("words", "words.mean", ".1f"),
            Column("ratio", number=",.0f"),
            Column("expected", lambda each: each.expected or "-"),
        ]
        print_records("table", Described, ruled, columns)
        click.echo(
            f"ratio: training examples divided by their mean words. Below {RULE:,} bigrams are expected to beat\n"
            "models of word order trained from nothing (sequence), which win above it; a rule for classes of texts."
        )
        click.echo()
    if subtokens:
        rows = []
        for name in named:
            own = {
                each.split: each.subtokens.mean
                for each in described
                if each.task.name == name and each.subtokens
            }
            mean = fmean(own.values(), [cells[name, split].inputs for split in own])
            rows.append([name, f"{mean:.1f}", *map(str, TABLE_8.get(name, ("", "")))])
        print_rows(
            ("dataset", "here", "Wiki+Books", "PubMed"),
            rows,
            "table",
            numbers=("here", "Wiki+Books", "PubMed"),
        )
        click.echo(
            "Mean sub-tokens per input over all splits, and Table 8 of Gu et al. for its two vocabularies."
        )


def _share(statistics: Statistics, label: str) -> str:
    """Count of a label, and its share of the units (documents may have several labels).

    The count alone if a split of NER or PICO has no entity at all.
    """
    count, units = statistics.labels[label], statistics.units
    return f"{count:,} ({100 * count / units:.1f} %)" if units else f"{count:,}"


def _beyond(statistics: Statistics) -> str:
    """Share of the inputs over the limit, and whether they are read in windows."""
    if statistics.windowed:
        return f"{100 * statistics.windowed / statistics.inputs:.1f} % w"
    return (
        f"{100 * statistics.truncated / statistics.inputs:.1f} %  "
        if statistics.truncated
        else "-  "
    )
