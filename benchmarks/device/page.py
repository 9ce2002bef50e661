"""The section of docs/performance.md that fills itself from docs/results/device: a table a part, a card a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.device import parts
from benchmarks.device.cells import Part
from benchmarks.device.results import COMPLETE, CUT, SKIPPED, read
from blurb.messages.errors import BlurbError

BEGIN = "<!-- device figures: `python -m benchmarks.device merge` writes what is between these marks -->"
END = "<!-- end of device figures -->"
NOTHING = "No card has run yet: no figure of this page was measured on a GPU."
Card = Mapping[str, Any]
"""The content of a results file."""


def fill(text: str, folder: Path) -> str:
    """The text with its section as the files of a folder say.

    :param folder: docs/results/device; it may be missing
    :raises BlurbError: if a mark is missing
    """
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise BlurbError(
            "the marks of the device figures are gone",
            where="docs/performance.md",
            fix="restore them.",
        )
    body = "\n".join(section([read(path) for path in sorted(folder.glob("*.json"))]))
    return f"{before}{BEGIN}\n\n{body}\n\n{END}{after}"


def section(cards: Sequence[Card]) -> Iterator[str]:
    """Lines: the cards, then a table for each part that has figures."""
    if not cards:
        yield NOTHING
        return
    yield from _of_cards(cards)
    for part in parts.PARTS.values():
        yield from _of_part(part, cards)


def _of_cards(cards: Sequence[Card]) -> Iterator[str]:
    yield "| card | memory, GiB | CUDA | torch | transformers | commit | differs from the tested versions in |"
    yield "|---|---:|---|---|---|---|---|"
    for one in cards:
        facts, versions = one["card"], [line.split()[0] for line in one["differences"]]
        cells = [
            facts["card"],
            f"{facts['memory']:g}",
            facts["cuda"] or "none",
            facts["torch"],
            facts["transformers"],
        ]
        cells += [one["manifest"]["commit"][:8], ", ".join(versions) or "nothing"]
        yield f"| {' | '.join(cells)} |"


def _of_part(part: Part, cards: Sequence[Card]) -> Iterator[str]:
    known = [
        (one["card"]["card"], one["parts"][part.name]) for one in cards if part.name in one["parts"]
    ]
    tables = {card: list(part.rows(measured["cells"])) for card, measured in known}
    told = [
        (card, measured)
        for card, measured in known
        if measured["state"] != COMPLETE or measured["told"]
    ]
    if not any(tables.values()) and not told:
        return
    yield f"\n### {part.title}\n"
    for card, lines in tables.items():
        if lines:
            yield f"{card}:\n"
            yield f"| {' | '.join(part.columns)} |"
            yield f"|{'---|' * len(part.columns)}"
            for row in lines:
                yield f"| {' | '.join(map(str, row))} |"
            yield ""
    if part.note and any(tables.values()):
        yield f"{part.note}\n"
    for card, measured in told:
        yield from _told(card, measured)


def _told(card: str, measured: Mapping[str, Any]) -> Iterator[str]:
    """What a reader must know of a part that lacks something."""
    if measured["state"] == SKIPPED:
        yield f"* {card}: not measured, {measured['why']}"
    elif measured["state"] == CUT:
        yield f"* {card}: cut off ({measured['why']}); the lines above are what was measured before."
    for name, reason in measured["told"].items():
        yield f"* {card}, {name}: {reason}"
