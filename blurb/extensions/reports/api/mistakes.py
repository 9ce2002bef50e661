"""`blurb.errors`, `confusion` and `diff`: the mistakes of a trial, and the examples that two answer differently."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pandas import DataFrame

from blurb import records
from blurb.extensions.reports import errors as analysis
from blurb.extensions.reports.differences import differences
from blurb.extensions.reports.differences.answers import Different
from blurb.messages import ErrorCollector
from blurb.options import Option
from blurb.planning.options import OUTPUT
from blurb.row_files import references
from blurb.store.record import Record
from blurb.tasks import SCORED, ScoredSplit

SPLIT = Option(help="Split to analyse.", choices=SCORED)


def errors(
    row: str,
    task: str | None = None,
    *,
    seed: int | None = None,
    split: Annotated[ScoredSplit, SPLIT] = "test",
    data: Path | str | None = None,
    raw: Path | str | None = None,
    output: Annotated[Path | str, OUTPUT] = "runs",
) -> DataFrame:
    """The mistakes of a trial, a line each: `id`, `kind`, `gold`, `prediction`, and with data `text`; worst first.

    ScoredSplit predictions of any tool are trials as well (`blurb.score(..., add=...)`).

    :param row: name of a row, or the folder of a trial
    :param task: dataset; not needed for the folder of a trial
    :param seed: None for the first
    :param data: data folder, for the text; the table is then for your own use
    :param raw: folder of the original releases, for trials that used them
    :param output: the store of a row without a folder
    """
    record = references.find_trial(row, Path(output), task, seed)
    texts, train = analysis.read_texts(record, data, raw, split)
    mistakes = analysis.analyse(record, split, texts, train).examples
    columns = ["id", "kind", "gold", "prediction", "text"]
    lines = [(each.unit, each.kind, each.gold, each.predicted, each.text) for each in mistakes]
    return DataFrame(lines, columns=columns).drop(columns=[] if texts else ["text"])


def confusion(
    row: str,
    task: str | None = None,
    *,
    seed: int | None = None,
    split: Annotated[ScoredSplit, SPLIT] = "test",
    output: Annotated[Path | str, OUTPUT] = "runs",
) -> DataFrame:
    """How often each gold answer (rows) got each prediction (columns): classes, words of PICO, entities.

    Entities count as found where a predicted one overlaps; `none` is the column of missed and the row of invented ones.

    :param row: name of a row, or the folder of a trial; the others as for `errors`
    :raises SettingsError: for tasks without one answer an example: similarity, documents with several labels
    """
    record = references.find_trial(row, Path(output), task, seed)
    table = analysis.confusion(record, analysis.analyse(record, split))
    counts = {line[0]: line[1:] for line in table.rows}
    return DataFrame.from_dict(counts, orient="index", columns=list(table.columns[1:]))


def diff(
    a: str,
    b: str,
    task: str | None = None,
    *,
    seed: int | None = None,
    split: Annotated[ScoredSplit, SPLIT] = "test",
    data: Path | str | None = None,
    raw: Path | str | None = None,
    output: Annotated[Path | str, OUTPUT] = "runs",
) -> DataFrame:
    """The examples that two trials answer differently, a line each; the largest differences first.

    The columns are those of `blurb diff --format csv`; with data there is the text, and the table is for your own use.
    They are chosen as in any table: `table[table.outcome == "only B right"]`.

    :param a: name of a row, or the folder of a trial; `b` likewise
    :param task: dataset; not needed if both have only one
    :raises SettingsError: if they are not of the same data and examples
    """
    first, other = find_trials((a, b), Path(output), task, seed)
    texts, _ = analysis.read_texts(first, data, raw, split)
    result = differences(first, other, split, texts)
    lines = [records.of(Different, each) for each in result.examples]
    table = DataFrame(lines, columns=records.record_columns(Different))
    return table.drop(columns=[] if texts else ["text"])


def find_trials(
    names: Sequence[str], store: Path, task: str | None = None, seed: int | None = None
) -> list[Record]:
    """The trial of each reference, as of `find_trial`; all that is wrong with them is one error."""
    hits = ErrorCollector()
    records = []
    for name in names:
        with hits:
            records.append(references.find_trial(name, store, task, seed))
    hits.stop()
    return records
