"""`blurb data stats`: sizes, lengths, labels, and the scores of trivial answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import click

from blurb.cli._made import TASKS_OR_FILES, click_command
from blurb.data.loading import check_folder, hint_at_folder, path_of, read_split
from blurb.extensions.reports.plots import _style, input_lengths
from blurb.extensions.reports.stats import RULE, Described, measure
from blurb.grouping import by_key
from blurb.inputs.tokenized_split import Read
from blurb.messages import DataError
from blurb.options import Option
from blurb.planning.options import CASING
from blurb.planning.steps import find_folders, make_reader
from blurb.tasks import SPLITS, Task, load_selection
from blurb.terminal.output import Column, json_text, print_records, print_rows

MOST_LABELS = 50
"""Maximum number of labels listed per dataset; a task file may declare any number."""


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
    named = load_selection(selection)
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
        splits += measure(task, rows, read)
    if not splits:
        raise DataError(f"none of the data files exists.{hint_at_folder(named, folder)}", folder)
    if form == "table":
        _show_tables(splits)
    elif form == "json":
        click.echo(json_text(splits), nl=False)
    else:
        lines = [_flat(one) for one in splits]
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


def _show_tables(described: Sequence[Described]) -> None:
    """Prints sizes and lengths of every split, a row per label, and with sub-tokens Table 8."""
    subtokens = any(each["sub_tokens"] for each in described)
    table = [
        Column("dataset", "task"),
        Column("split"),
        Column("units", number=","),
        Column("inputs", number=","),
        Column("words", "words.mean", ".1f"),
        Column("longest", "words.longest", ","),
    ]
    if subtokens:
        table += [
            Column("sub-tokens", "sub_tokens.mean", ".1f"),
            Column("longest", "sub_tokens.longest", ","),
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
    by_task = by_key((each["task"], each) for each in described)
    rows = []
    for name, present in by_task.items():
        by_split = {each["split"]: each for each in present}
        splits = [by_split.get(split) for split in SPLITS]
        labels = list(present[0]["labels"])
        rows += [
            [name, label, *(_share(each, label) if each else "-" for each in splits)]
            for label in labels[:MOST_LABELS]
        ]
        if rest := labels[MOST_LABELS:]:
            sums = [
                f"{sum(each['labels'][label] for label in rest):,}" if each else "-"
                for each in splits
            ]
            rows.append([name, f"({len(rest):,} more: use --format csv)", *sums])
        scores = [each["score"] if each else None for each in splits]
        if any(scores):
            cells = [f"{one['mean']:.2f}, {one['sd']:.2f}" if one else "-" for one in scores]
            rows.append([name, "score: mean, sd", *cells])
    print_rows(("dataset", "label", *SPLITS), rows, numbers=SPLITS)
    if ruled := [each for each in described if each["examples_per_word"] is not None]:
        columns = [
            Column("dataset", "task"),
            Column("examples", "inputs", ","),
            Column("words", "words.mean", ".1f"),
            Column("ratio", "examples_per_word", ",.0f"),
            Column("expected", lambda each: each["expected"] or "-"),
        ]
        print_records("table", Described, ruled, columns)
        click.echo(
            f"ratio: training examples divided by their mean words. Below {RULE:,} bigrams are expected to beat\n"
            "models of word order trained from nothing (sequence), which win above it; a rule for classes of texts."
        )
        click.echo()
    if subtokens:
        rows = []
        for name, present in by_task.items():
            means = [each["sub_tokens"]["mean"] for each in present if each["sub_tokens"]]
            mean = fmean(means, [each["inputs"] for each in present])
            published = present[0]["table_8"]
            rows.append([name, f"{mean:.1f}", *(published.values() if published else ("", ""))])
        numbers = ("here", "Wiki+Books", "PubMed")
        print_rows(("dataset", *numbers), rows, numbers=numbers)
        click.echo(
            "Mean sub-tokens per input over all splits, and Table 8 of Gu et al. for its two vocabularies."
        )


def _share(described: Described, label: str) -> str:
    """Count of a label, and its share of the units (documents may have several labels).

    The count alone if a split of NER or PICO has no entity at all.
    """
    count, units = described["labels"][label], described["units"]
    return f"{count:,} ({100 * count / units:.1f} %)" if units else f"{count:,}"


def _beyond(described: Described) -> str:
    """Share of the inputs over the limit, and whether they are read in windows."""
    over, how = described["windowed"], "w"
    if not over:
        over, how = described["truncated"], " "
    return f"{100 * over / described['inputs']:.1f} % {how}" if over else "-  "
