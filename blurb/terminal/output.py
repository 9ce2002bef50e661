"""Printed tables, as text, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

from blurb import records
from blurb.messages import escape_controls

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.measure import Measurement

LEAST = 8
"""Characters that a column of texts keeps on the narrowest terminal."""
FORMATS = click.Choice(["table", "csv", "json"])


class Picture(Protocol):
    """A picture to write of what a command found: the value of the option `--plot`, which an extension brings."""

    path: Path

    def check(self) -> None:
        """Raises a SettingsError if no picture could be written there."""

    def write(self, *given: Any) -> None:
        """Writes the picture of what was found."""


def make_console(width: int = 200, stderr: bool = False) -> Console:
    """The console of every command. Rich markup is off: brackets and colons in names are printed as they are.

    Text that commands a terminal is printed as escapes, whoever wrote it.

    :param width: characters per line if the output is no terminal
    """
    from rich.console import Console, RenderableType
    from rich.segment import Segment

    class Ours(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else escape_controls(text), style, control)

        def on_broken_pipe(self) -> None:
            """Nobody reads on: `blurb.cli._exit` ends with 141, where rich would end with 1, a regression."""
            raise BrokenPipeError

    return Ours(
        width=None if _has_width(stderr) else width,
        stderr=stderr,
        markup=False,
        emoji=False,
        highlight=False,
    )


def _has_width(stderr: bool) -> bool:
    """Whether the output is a terminal, or the variable COLUMNS has a number: people set it where there is none."""
    return (sys.stderr if stderr else sys.stdout).isatty() or os.environ.get("COLUMNS", "").strip(
        "0"
    ).isdecimal()


def pieces(text: str) -> list[str]:
    """Where a line may end: after a blank, and within a word after a sign.

    >>> pieces("baseline:majority demo")
    ['baseline:', 'majority ', 'demo']
    """
    return re.findall(r".*?(?:[ :/_.,=@-]+|$)", text)[:-1]


def break_lines(text: str, room: int) -> list[str]:
    """The lines of a text: they end between words, and within a word that is too long after a sign; an indent stays.

    >>> break_lines("baseline:majority demo", 15), break_lines("checkpoint-12000 quick batch_size=16", 15)
    (['baseline:', 'majority demo'], ['checkpoint-', '12000 quick', 'batch_size=16'])
    """
    return _Wrapper(room, break_long_words=False).wrap(text) or [""]


class _Wrapper(textwrap.TextWrapper):
    def _split(self, text: str) -> list[str]:
        words = re.findall(r"\s+|\S+", text)
        return [
            part for word in words for part in ([word] if len(word) <= self.width else pieces(word))
        ]


class Name:
    """A text of a table whose words stay whole on a narrow terminal, as far as there is room for them."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        lines = [
            line for part in self.text.split("\n") for line in break_lines(part, options.max_width)
        ]
        yield Text("\n".join(lines), overflow="fold")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        return Measurement(longest_piece(self.text), max(map(len, self.text.split("\n"))))


def longest_piece(text: str) -> int:
    """Characters of the longest part without a place where a line may end."""
    return max((len(piece.strip()) for piece in pieces(text)), default=1)


def print_sentence(text: str) -> None:
    """Prints a sentence; on a terminal its lines end between words, elsewhere it is one line."""
    make_console().print(text, soft_wrap=not _has_width(False))


def print_rows(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    form: str = "table",
    numbers: Sequence[str] = (),
    stderr: bool = False,
) -> None:
    """Prints rows.

    :param form: "table", "csv" or "json" (a list of objects)
    :param numbers: columns to align right in the table
    :param stderr: print the table to stderr, as it comes before the results
    """
    if form != "table":
        click.echo(render_rows_as(columns, rows, form), nl=False)
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    out = make_console(stderr=stderr)
    cells = [
        [
            ""
            if cell is None
            else f"{cell:,}"
            if isinstance(cell, int)
            else escape_controls(str(cell))
            for cell in row
        ]
        for row in rows
    ]
    widths = [
        max(len(line) for row in (columns, *cells) for line in row[at].split("\n"))
        for at in range(len(columns))
    ]
    narrow = sum(widths) + 2 * len(widths) > out.width
    table = Table(
        box=SIMPLE_HEAD, header_style="bold", padding=0 if narrow else (0, 1, 0, 0), pad_edge=False
    )
    for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
        short = index == 0 and len(columns) > 2 and width <= out.width // 4
        if column in numbers or short:
            # Numbers, and short names in front, are never broken; texts give way on a narrow terminal.
            table.add_column(
                column,
                justify="right" if column in numbers else "left",
                no_wrap=True,
                min_width=width,
            )
        else:
            longest = max(
                longest_piece(line) for row in (columns, *cells) for line in row[index].split("\n")
            )
            table.add_column(
                column,
                overflow="fold",
                min_width=min(longest, max(LEAST, out.width // len(columns))),
            )
    for row in cells:
        table.add_row(*map(Name, row))
    out.print(table)


def print_facts(facts: Mapping[str, object]) -> None:
    """Prints what is known of something, a line each; the names of sizes, which are in bytes, end in `bytes`."""
    lines = {
        name.removesuffix("_bytes").replace("bytes", "size").replace("_", " "): _fact_as_text(
            value, name.endswith("bytes")
        )
        for name, value in facts.items()
    }
    width = max(map(len, lines), default=0)
    for name, text in lines.items():
        click.echo(f"  {name:{width}}  {text}")


def _fact_as_text(value: object, size: bool) -> str:
    """A fact as text: sizes in MB, `none` where there is no number."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value / 1e6:,.1f} MB" if size else f"{value:,}"
    return "none" if value is None else str(value)


class Column(NamedTuple):
    """A column of a table for people.

    :param source: attribute of what a line is of, or a function of it; the title by default
    :param number: how a number is written, such as ".2f"; "" for a text, which stands on the left
    """

    title: str
    source: str | Callable[[Any], object] = ""
    number: str = ""

    def cell(self, of: Any) -> object:
        """The cell of a line; "" for None."""
        value = records.From(self.source or self.title)(of)
        written = self.number and not isinstance(value, str)
        return "" if value is None else format(value, self.number) if written else value


def print_records(
    form: str, record: type, sources: Sequence[Any], table: Sequence[Column] = ()
) -> bool:
    """Prints a record of each object as CSV or JSON, or a table of them for people; returns whether it was the table.

    :param table: without columns nothing is printed of a table
    """
    if form != "table":
        lines = [list(records.of(record, source).values()) for source in sources]
        print_rows(records.record_columns(record), lines, form)
    elif table:
        print_rows(
            [column.title for column in table],
            [[each.cell(one) for each in table] for one in sources],
            form,
            [column.title for column in table if column.number],
        )
    return form == "table"


def render_rows_as(columns: Sequence[str], rows: Sequence[Sequence[object]], form: str) -> str:
    """Rows as "csv" or "json" (a list of objects). Both get the same values, and None where there is none."""
    if form == "json":
        return json_text([dict(zip(columns, row, strict=True)) for row in rows])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [columns, *([_csv_cell(value) for value in row] for row in rows)]
    )
    return text.getvalue()


def json_text(value: object) -> str:
    """A value as every command prints it; docs/json.md. NaN and infinity are no JSON, and a ValueError."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _csv_cell(value: object) -> object:
    """A value as one cell of CSV: lists and objects joined by `|`, floats with six digits, nothing for None."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return "|".join(f"{key}={_csv_cell(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return "|".join(str(_csv_cell(item)) for item in value)
    return "" if value is None else value


def can_draw() -> bool:
    """Whether Matplotlib is there, which is an extra: tables and pages are written without it."""
    return find_spec("matplotlib") is not None


def list_written(paths: Sequence[Path], picture: str) -> None:
    """Names the files on stderr, and the picture if it is not among them."""
    for path in paths:
        click.echo(f"Wrote {path}", err=True)
    if picture not in (path.name for path in paths):
        click.echo(f"No {picture}: it needs Matplotlib (pip install matplotlib).", err=True)
