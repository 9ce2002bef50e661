"""Renders the page as HTML. The templates escape all names, and the page loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
from typing import Any

from markupsafe import Markup

from blurb.extensions.reports.html import environment, in_script, policy_hash, source, svg
from blurb.extensions.reports.html.collect import MOST_ENCODERS, MOST_PROBES, opening, title_of
from blurb.extensions.reports.html.model import Leaderboard, Page, PageRow, winners
from blurb.leaderboard.intervals import BASES, Value
from blurb.leaderboard.terminal import SHORT
from blurb.messages import format_p
from blurb.results.comparison import PAIRED
from blurb.results.score import SCORE, dataset_weights, type_weights
from blurb.tasks import TWELVE, TYPES

MOST_DRAWN = 50
"""Maximum number of rows in the charts of a dataset: more are unreadable, and are most of the page's size."""
MARKS = {"both": "", "units": "†", "seeds": "‡", "": ""}
"""Marks after intervals that do not include the variance of both seeds and test examples."""


def render(page: Page) -> str:
    """One HTML file.

    The content security policy allows the style and the script by their hashes and nothing else: the page sends no
    requests, and a name that got past the escaping could not run code.
    """
    templates = environment()
    templates.globals.update(
        svg=svg,
        title_of=title_of,
        marks=MARKS,
        best=best,
        columns=columns,
        value_of=value_of,
        focus=focus,
        data=data,
        bases=bases,
        own=own,
        printed=printed,
        breakable=breakable,
        most_pairs=MOST_ENCODERS,
        most_probes=MOST_PROBES,
        most_drawn=MOST_DRAWN,
        paired=PAIRED,
        probability=format_p,
    )
    style = source(templates, "palette.css", "style.css", *(["series.css"] if page.series else []))
    script = source(templates, "script.js")
    return templates.get_template("page.html").render(
        page=page,
        style=style,
        script=script,
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )


def columns(board: Leaderboard) -> list[tuple[str, str, str]]:
    """Key, title and group of the numeric columns that some row has a figure in."""
    known = [
        ("score", "Score", "score"),
        (TWELVE, TWELVE, "score"),
        *((kind, SHORT[kind], "type") for kind in TYPES),
        *((task, title_of(task), "dataset") for task in board.tasks),
    ]
    return [
        column
        for column in known
        if any(value_of(entry, column[0]) is not None for entry in board.entries)
    ]


def value_of(entry: PageRow, key: str) -> Value | None:
    """The number of a row in a column."""
    return entry.datasets[key].test if key in entry.datasets else entry.values.get(key)


def best(board: Leaderboard) -> dict[str, set[int]]:
    """The rows with the best value of each column among those that they may be ranked with, two or more.

    Values count as printed: ties are all marked as best.
    """
    standings = [entry.standing for entry in board.entries]
    return {
        key: winners(
            {
                place: round(value.mean, 2)
                for place, entry in enumerate(board.entries)
                if (value := value_of(entry, key))
            },
            standings,
            key,
        )
        for key, _, _ in columns(board)
    }


def focus(board: Leaderboard) -> int:
    """The row to highlight at first: the best unpublished row, else the first."""
    return next(
        (place for place, entry in enumerate(board.entries) if entry.kind != "published"), 0
    )


def bases(board: Leaderboard) -> list[str]:
    """The kinds of intervals on a board, for the note below its table."""
    found = {
        value.basis
        for entry in board.entries
        for key, _, _ in columns(board)
        if (value := value_of(entry, key))
    }
    return [name for name in BASES if name in found]


def data(board: Leaderboard) -> Markup:
    """The data for pairwise comparisons in the script, as JSON that cannot close its script element."""
    names = board.comparisons.names
    weights = {**dataset_weights(), SCORE: 1.0}
    for kind, shares in type_weights().items():
        weights[kind] = sum(weights[name] for name in shares)
    titles = {SCORE: "BLURB score", **{kind: f"{short} mean" for kind, short in SHORT.items()}}
    reasons: list[str] = [""]
    pairs: dict[str, list[Any]] = {}
    for pair in board.comparisons.pairs:
        lines: list[Any] = []
        for half, p, reason in pair.lines:
            if reason not in reasons:
                reasons.append(reason)
            lines.append([_rounded(half, 2), _rounded(p, 4), reasons.index(reason)])
        pairs[f"{pair.first}-{pair.other}"] = lines
    content = {
        "titles": [titles.get(name) or title_of(name) for name in names],
        "means": [
            [round(value.mean, 2) if (value := value_of(entry, name)) else None for name in names]
            for entry in board.entries
        ],
        "weights": [weights.get(name) for name in names],
        "names": [entry.label for entry in board.entries],
        "runs": [any(one.runs for one in entry.row.datasets.values()) for entry in board.entries],
        "pairs": pairs,
        "reasons": reasons,
        "remarks": {
            key: text
            for pair in board.comparisons.pairs
            for key, text in zip(
                (f"{pair.first}-{pair.other}", f"{pair.other}-{pair.first}"),
                pair.remarks,
                strict=True,
            )
            if text
        },
        "opening": opening(board.comparisons, board.entries, focus(board)),
    }
    return in_script(
        json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    )


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def breakable(name: str) -> Markup:
    """A name that may wrap after punctuation, for narrow columns."""
    return Markup("").join(
        Markup("{}<wbr>").format(part) for part in re.split(r"(?<=[:/_.=])", name)
    )


def own(board: Leaderboard, task: str) -> list[tuple[int, PageRow]]:
    """Index and row of the unpublished rows of a dataset."""
    return [
        (place, entry)
        for place, entry in enumerate(board.entries)
        if task in entry.datasets and entry.kind != "published"
    ]


def printed(board: Leaderboard, task: str) -> list[tuple[str, float]]:
    """Name and score of the published rows of a dataset, best first."""
    scores = [
        (entry.label, entry.datasets[task].test.mean)
        for entry in board.entries
        if task in entry.datasets and entry.kind == "published"
    ]
    return sorted(scores, key=lambda score: -score[1])
