"""`blurb leaderboard show` and `published`: rows in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypedDict

import click

from blurb import data as data_, formulations, tasks
from blurb.cli._made import RESULTS, TOGETHER, click_command
from blurb.data.schema import leaked_ids
from blurb.leaderboard import intervals, overview, ranking
from blurb.leaderboard.ranking import Board, Ranked, RankedRow, RankRange
from blurb.messages import SettingsError, UnknownName, group_reasons
from blurb.options import Option
from blurb.planning.options import OUTPUT
from blurb.records import Count, From, Rule, record_columns as keys
from blurb.results import groups, published
from blurb.results.row import Origin, Row
from blurb.results.score import DATASETS, SCORE, blurb_score
from blurb.system.process import freeze_gc, gc_disabled
from blurb.terminal.output import Column, make_console, print_records, print_rows, print_sentence

FEW = 4
"""Rows without any mean, of which the datasets are shown unasked: what fits 80 columns."""


class RankedRowRecord(TypedDict):
    """A row of the store."""

    row: Annotated[str, "model and configuration, or source"]
    group: Annotated[
        str,
        'the rows that it is ranked among; "" for the protocols of papers and the published rows',
    ]
    best_rank: Annotated[Count | None, "rank; null if it is not ranked"]
    worst_rank: Annotated[
        Count | None, "the same, or more if the intervals do not separate it from others"
    ]
    probe: Annotated[bool, "a frozen encoder"]
    published: Annotated[bool, "numbers of a paper"]
    runs: Annotated[
        list[Annotated[int, Rule("minimum", 1)]], "the numbers of runs that its scores are of"
    ]
    note: Annotated[str, "what to know before comparing it"]


SCORES = Rule(
    "patternProperties",
    {
        f"^(?!({'|'.join(keys(RankedRowRecord))})$).+$": {
            "type": ["number", "null"],
            "description": "NAME (score, blurb-12, a task type or a task) times 100; NAME_low and NAME_high are its "
            "95 % interval; with --datasets, NAME_best_rank and NAME_worst_rank as best_rank and worst_rank; null if "
            "unknown",
        }
    },
)


def _value_of(name: str, row: Row) -> float | None:
    return row.overall_means().get(name)


class PublishedRecord(TypedDict):
    """A published row that comes with blurb."""

    row: Annotated[str, "model and source", From("name")]
    version: Annotated[str, "edition, table or date", From("version")]
    ner: Annotated[
        float | None,
        "mean of the type, times 100; null if a dataset of it is missing",
        From(partial(_value_of, "ner")),
    ]
    pico: Annotated[float | None, "likewise", From(partial(_value_of, "pico"))]
    relation: Annotated[float | None, "likewise", From(partial(_value_of, "relation"))]
    similarity: Annotated[float | None, "likewise", From(partial(_value_of, "similarity"))]
    document: Annotated[float | None, "likewise", From(partial(_value_of, "document"))]
    qa: Annotated[float | None, "likewise", From(partial(_value_of, "qa"))]
    score: Annotated[
        float | None, "score as printed, or recomputed if none is", From(partial(_value_of, SCORE))
    ]
    recomputed: Annotated[
        float | None,
        "mean of the six means; null if one is missing",
        From(lambda row: blurb_score(row.means())),
    ]
    numbers: Annotated[
        Literal["printed", "quoted", "recalled"], "how the numbers were come by", From("certainty")
    ]


PUBLISHED_COLUMNS = (
    Column("row", "name"),
    Column("version"),
    *(Column(name, partial(_value_of, name), ".2f") for name in (*tasks.TYPES, SCORE)),
    Column("recomputed", lambda row: blurb_score(row.means()), ".2f"),
    Column("numbers", "certainty"),
)


@click_command("show", prints=list[Annotated[RankedRowRecord, SCORES]])
def command(
    *,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    results: Annotated[tuple[Path, ...], RESULTS] = (),
    together: Annotated[bool, TOGETHER] = False,
    column: Annotated[
        str | None,
        Option(
            help="Column to sort by: a dataset, a task type, score or blurb-12.  [default: score, or blurb-12 "
            "if no row of the store has a score]",
            flag="--sort",
        ),
    ] = None,
    model: Annotated[
        str, Option(help="Show only models that match a pattern, such as 'bert*'.")
    ] = "*",
    protocol: Annotated[str, Option(help="Show only protocols that match a pattern.")] = "*",
    head: Annotated[str, Option(help="Show only heads that match a pattern.")] = "*",
    suite: Annotated[
        str | None,
        Option(help="Suite of the rows: name or folder.  [default: blurb, if it has rows]"),
    ] = None,
    datasets: Annotated[
        bool,
        Option(
            help="Show the datasets, too, with the skill of each row; in csv and json only them, with ranks."
        ),
    ] = False,
    no_published: Annotated[bool, Option(help="Leave out the published rows.")] = False,
    no_intervals: Annotated[bool, Option(help="Leave out the intervals (faster).")] = False,
    without: Annotated[
        str | None,
        Option(help="Score without the test examples that occur in train.", choices=("leaks",)),
    ] = None,
    data: Annotated[Path | None, Option(help="Data folder, for --without.")] = None,
    form: str,
    board: Board | None = None,
) -> None:
    """Show the rows of the store, best first.

    With 95 % intervals over runs and test examples.

    Rows of a results.csv have no predictions: their intervals are over runs alone; published rows have
    no intervals. A rank such as 2-4 means that the intervals do not separate the row from its neighbours. blurb-12 is
    the mean of the six means without BioASQ, which needs a registration; it is not the BLURB score. Skill is 0 %
    at the best simple baseline (a constant answer, or pairs of words), 100 % at the best published score.
    """
    with gc_disabled():
        rows = ranking.select(ranking.read_rows(output, results, board), model, protocol, head)
        freeze_gc()  # of a large store they are a million objects, which stay to the end
    suites = {row.suite for row in rows}
    # Two suites never share a table.
    requested, suite = (
        suite,
        suite
        if suite in suites
        else tasks.load_suite(suite).name
        if suite
        else min(suites, key=lambda name: (name != "blurb", name != "demo", name), default="blurb"),
    )
    rows = [row for row in rows if row.suite == suite]
    own = sorted({name for row in rows for name in row.own_tasks})
    known = [*DATASETS, *own, *tasks.TYPES, SCORE, tasks.TWELVE]
    if column is not None and column not in known:
        raise UnknownName("column", column, known)
    stored = (row for row in rows if row.origin is Origin.STORE)
    if lost := sorted(
        {name for row in stored for name, one in row.datasets.items() if one.runs and not one.type}
    ):
        click.echo(
            f"{', '.join(lost)}: the task type is not registered here; install its plug-in. Until then the figures of "
            "the store are shown, and count in no mean.",
            err=True,
        )
    if not rows:
        _show_withdrawn(
            output,
            results,
            board,
            form,
            (model, protocol, head, requested) != ("*", "*", "*", None),
        )
        return
    left_out = _leaked_examples(rows, without, data)
    if no_intervals or left_out is not None:
        values = [
            intervals.numbers(row, 0 if no_intervals else intervals.RESAMPLES, left_out)
            for row in rows
        ]
    else:
        values = intervals.all_numbers(rows, output)
    entries = [
        RankedRow(row, each, ranking.standing(row, board, together))
        for row, each in zip(rows, values, strict=True)
    ]
    if column is None:
        column = SCORE if any(SCORE in entry.values for entry in entries) else tasks.TWELVE
    if not no_published and left_out is None and suite == "blurb":
        entries += [ranking.entry(row) for row in published.shipped()]
    if form == "table":
        _print_board(ranking.in_parts(entries, column, left_out), column, datasets, left_out)
        return
    shown = [*DATASETS, *own] if datasets else [SCORE, tasks.TWELVE, *tasks.TYPES]
    shown += [] if column in shown else [column]
    ranked = {  # of a dataset by resampling its examples, which is dear
        name: ranking.in_parts(entries, name, left_out)
        for name in (shown if datasets else [column])
    }
    places = {
        name: {id(each.entry): each.place for each in part}
        for name, part in ranked.items()
        if datasets
    }
    ends = ("", "_low", "_high", *(("_best_rank", "_worst_rank") if datasets else ()))
    scores = [f"{name}{end}" for name in shown for end in ends]
    columns = (*keys(RankedRowRecord)[:-2], *scores, *keys(RankedRowRecord)[-2:])
    print_rows(columns, [_record_of_row(each, shown, places) for each in ranked[column]], form)


def _show_withdrawn(
    output: Path, results: Sequence[Path], board: Board | None, form: str, chosen: bool
) -> None:
    """Shows the rows that a board had, with the reasons; SettingsError where there are none to show.

    :param chosen: whether options choose among the rows
    """
    if not results and board is None and not output.is_dir():
        raise SettingsError(
            "no such folder",
            where=output,
            fix="blurb run writes one, or give another with --output.",
        )
    gone = [] if board is None or form != "table" else board.withdrawn()
    if not gone:
        raise SettingsError(
            "no finished row" + (" matches the options." if chosen else " yet"),
            where=", ".join(map(str, (board.folder if board else output, *results))),
            fix=""
            if chosen
            else "blurb run and blurb score --add make rows; --output names another store.",
        )
    for sentence in gone:
        click.echo(f"{sentence}.")


def _print_board(
    ranks: Sequence[Ranked], column: str, with_datasets: bool, left_out: dict[str, set[str]] | None
) -> None:
    out = make_console(width=120)
    ranks = overview.own_first(ranks, column)
    own = [ranked.entry for ranked in ranks if not ranked.entry.row.published]
    alone = [entry for entry in own if overview.without_means(entry)]
    shown = own if with_datasets or len(alone) == len(ranks) else alone if len(alone) <= FEW else []
    tables = overview.datasets(shown, out.width)
    if any(ranked.entry.row.has_means for ranked in ranks):
        # Figures of one's own that only the datasets have stand above the means of others.
        below = len(alone) == len(own) < len(ranks)
        tables.insert(len(tables) if below else 0, overview.overview_table(ranks, column))
    for table in tables:
        out.print(table)
    if any(map(overview.has_skill, shown)):
        print_sentence(
            "Per cent: skill, which is 0 at the best simple baseline and 100 at the best published score."
        )
    if any(overview.beside_means(entry) and entry not in shown for entry in own):
        print_sentence("Some datasets are in none of these means; --datasets shows them.")
    for text in group_reasons(
        (ranked.entry.name, _notes_on_row(ranked.entry, column)) for ranked in ranks
    ):
        print_sentence(text)
    if own and len(own) < len(ranks):
        print_sentence(f"{groups.THEIRS}.")
    if left_out is not None:
        counts = ", ".join(f"{name} {len(ids)}" for name, ids in left_out.items() if ids)
        print_sentence(
            f"Test examples left out because their input occurs in train: {counts or 'none'}."
        )


def _notes_on_row(entry: RankedRow, column: str) -> str:
    """Notes on a row; rows often share them."""
    why = entry.standing.unranked(column) if column in entry.values else ""
    return "; ".join(filter(None, (f"not ranked: {why}" if why else "", entry.note)))


def _record_of_row(
    ranked: Ranked, names: Sequence[str], places: Mapping[str, Mapping[int, RankRange | None]]
) -> tuple[object, ...]:
    """A record of csv and json; None where there is no number.

    :param places: name -> id of an entry -> its rank, where these are shown
    """
    entry = ranked.entry
    row = entry.row
    scores = (
        cell
        for name in names
        for one in (entry.values.get(name),)
        for cell in (
            *((None,) * 3 if one is None else (one.mean, one.low, one.high)),
            *((places[name][id(entry)] or (None, None)) if name in places else ()),
        )
    )
    ranks = ranked.place or (None, None)
    return (
        row.name,
        ranked.part,
        *ranks,
        bool(entry.standing.mark),
        row.published,
        *scores,
        row.run_counts,
        entry.note,
    )


def _leaked_examples(
    rows: list[Row], without: str | None, folder: Path | None
) -> dict[str, set[str]] | None:
    """The test examples of each dataset, as the trials cut it, whose input occurs in its train set.

    None without the option.
    """
    if without is None:
        if folder is not None:
            raise SettingsError("--data is for --without leaks.")
        return None
    if folder is None:
        raise SettingsError("--without leaks compares the texts of the data", fix="add --data.")
    leaked: dict[str, set[str]] = {}
    names = {task for row in rows for task in row.records}
    if not names:
        raise SettingsError(
            "No row has its predictions here, so none can be scored anew",
            fix="remove --without leaks.",
        )
    if lacking := [row.model for row in rows if not row.records]:
        click.echo(
            f"With their leaks, as their predictions are not here: {', '.join(lacking)}", err=True
        )
    for task in tasks.select_tasks(name for name in names if tasks.known_task(name)):
        splits = {split: data_.read_split(task, folder, split) for split in LEAKING}
        cuts = [
            formulations.bind(task, record.trial.settings)
            for row in rows
            for record in row.records_of(task.name).values()
        ]
        # HoC by sentence and by abstract have units of other names.
        for cut in {tuple(sorted(each.options.items())): each for each in cuts}.values():
            leaked.setdefault(task.name, set()).update(
                leaked_ids({split: cut.units(part) for split, part in splits.items()})
            )
    return leaked


LEAKING: tuple[tasks.Split, ...] = ("train", "test")


@click_command("published", prints=list[PublishedRecord])
def published_rows(
    *,
    ablations: Annotated[
        bool, Option(help="The variants of PubMedBERT that the paper prints, which are not ranked.")
    ] = False,
    form: str,
) -> None:
    """Show the published rows that come with blurb.

    The printed score, and the score recomputed from the datasets.

    The column 'numbers' is printed (read in that publication), quoted (read elsewhere) or recalled (from memory).
    """
    chosen = published.ablations() if ablations else published.shipped()
    print_records(form, PublishedRecord, chosen, PUBLISHED_COLUMNS)
    if form == "table":
        for row in chosen:
            for remark in row.remarks:
                click.echo(f"{row.name}: {remark}.")
