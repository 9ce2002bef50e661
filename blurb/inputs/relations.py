"""Shows the two entities of a relation in the text: unchanged, as dummies, or between markers.

The same sentence, `aspirin inhibits COX-1 strongly`, with the chemical and the gene as the pair in question:

| strategy | text |
|---|---|
| `original` | aspirin inhibits COX-1 strongly |
| `dummify` | @CHEMICAL$ inhibits @GENE$ strongly |
| `dummy-tokens` | the same, with `@CHEMICAL$` and `@GENE$` as single tokens |
| `markers` | [E1] aspirin [/E1] inhibits [E2] COX-1 [/E2] strongly |
| `typed-markers` | [CHEMICAL] aspirin [/CHEMICAL] inhibits [GENE] COX-1 [/GENE] strongly |

Every strategy takes and returns a `Marked`: the text and the character spans of the two entities in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from blurb.messages import SettingsError, opt

STRATEGIES = ("dummify", "dummy-tokens", "original", "markers", "typed-markers")
DUMMIES = STRATEGIES[:2]
MARKERS = STRATEGIES[3:]
NEW_TOKENS = ("dummy-tokens", *MARKERS)
"""Those that add tokens to the vocabulary."""
SHORT = {"CHEMICAL": "CHEM"}
"""Short types in the dummy of two overlapping entities: `@CHEM-GENE$`."""
Span = tuple[int, int]


class Marked(NamedTuple):
    """A text and the spans of its two entities, including markers; one dummy for both gives equal spans."""

    text: str
    head: Span
    tail: Span


def is_dummified(row: Mapping[str, Any]) -> bool:
    """Whether the text of a row has dummies instead of its entities, as in BLURB's files.

    >>> is_dummified({"text": "@GENE$ and @DISEASE$", "head": {"start": 0, "end": 6}, "tail": {"start": 11, "end": 20}})
    True
    """
    surfaces = (row["text"][row[role]["start"] : row[role]["end"]] for role in ("head", "tail"))
    return all(surface.startswith("@") and surface.endswith("$") for surface in surfaces)


def mark(row: Mapping[str, Any], strategy: str) -> Marked:
    """Applies a strategy to the entities in the text of a row.

    :param row: an example of a relation task (see `blurb.data.schema`), original or dummified
    :raises SettingsError: if the strategy needs entity names, but the row has dummies
    """
    text = row["text"]
    head, tail = ((row[role]["start"], row[role]["end"]) for role in ("head", "tail"))
    types = (row["head"]["type"], row["tail"]["type"])
    dummies = is_dummified(row)
    match strategy:
        case "original" if dummies:
            raise SettingsError(
                "the text has dummies instead of the entity names",
                fix=f"use the original release ({opt('raw')}).",
            )
        case "original":
            return Marked(text, head, tail)
        case "dummify" | "dummy-tokens":
            return Marked(text, head, tail) if dummies else dummify(text, head, tail, types)
        case "markers":
            return insert(text, head, tail, ("E1", "E2"))
        case "typed-markers":
            return insert(text, head, tail, types)
    raise SettingsError(
        f"relation_input must be one of {', '.join(STRATEGIES)} (got '{strategy}')."
    )


def dummify_entities(row: Mapping[str, Any]) -> dict[str, Any]:
    """An original row in BLURB's form: dummies in the text, and as spans and names of the entities."""
    text, *spans = mark(row, "dummify")
    head, tail = (
        {"start": start, "end": end, "type": text[start + 1 : end - 1]} for start, end in spans
    )
    return {**row, "text": text, "head": head, "tail": tail}


def dummify(text: str, head: Span, tail: Span, types: Sequence[str]) -> Marked:
    """Replaces the two entities by dummies, by the rule of BLURB's kit (docs/benchmark.md, "Dummies").

    Overlapping entities become a single dummy; entities that only touch do not overlap.

    >>> dummify("aspirin inhibits COX-1", (0, 7), (17, 22), ("CHEMICAL", "GENE"))
    Marked(text='@CHEMICAL$ inhibits @GENE$', head=(0, 10), tail=(20, 26))
    >>> dummify("insulin receptor binds", (0, 16), (0, 7), ("GENE", "CHEMICAL"))
    Marked(text='@CHEM-GENE$ binds', head=(0, 11), tail=(0, 11))
    >>> dummify("COX-1 is inhibited by aspirin", (22, 29), (0, 5), ("CHEMICAL", "GENE"))
    Marked(text='@GENE$ is inhibited by @CHEMICAL$', head=(23, 33), tail=(0, 6))
    >>> dummify("AB", (0, 1), (1, 2), ("DRUG", "DRUG")).text
    '@DRUG$@DRUG$'
    """
    if head[0] < tail[1] and tail[0] < head[1]:
        dummy = f"@{'-'.join(sorted(SHORT.get(name, name) for name in types))}$"
        start, end = min(head[0], tail[0]), max(head[1], tail[1])
        span = (start, start + len(dummy))
        return Marked(text[:start] + dummy + text[end:], span, span)
    if tail < head:
        turned = dummify(text, tail, head, types[::-1])
        return Marked(turned.text, turned.tail, turned.head)
    first, second = (f"@{name}$" for name in types)
    before = text[: head[0]] + first + text[head[1] : tail[0]]
    return Marked(
        before + second + text[tail[1] :],
        (head[0], head[0] + len(first)),
        (len(before), len(before) + len(second)),
    )


def insert(text: str, head: Span, tail: Span, names: Sequence[str]) -> Marked:
    """Inserts `[NAME]` before and `[/NAME]` after each entity; overlapping entities get nested markers.

    >>> insert("aspirin inhibits COX-1", (0, 7), (17, 22), ("E1", "E2"))
    Marked(text='[E1] aspirin [/E1] inhibits [E2] COX-1 [/E2]', head=(0, 18), tail=(28, 44))
    >>> insert("insulin receptor", (0, 16), (0, 7), ("E1", "E2")).text
    '[E1] [E2] insulin [/E2] receptor [/E1]'
    """
    spans = (head, tail)
    # At one place: what closes comes before what opens; of two that open the longer one is outside, and of two that
    # close the one that opened last is closed first.
    events = []
    for index, (start, end) in enumerate(spans):
        outside = index if spans[0] == spans[1] else 0
        events.append((start, 1, -end, outside, f"[{names[index]}]", index))
        events.append((end, 0, -start, -outside, f"[/{names[index]}]", index))
    events.sort(key=lambda event: event[:4])
    written, done = "", 0
    places: list[list[int]] = [[0, 0], [0, 0]]
    for place, opens, _, _, marker, index in events:
        written += text[done:place]
        done = place
        if opens:
            places[index][0] = len(written)
            written += f"{marker} "
        else:
            written += f" {marker}"
            places[index][1] = len(written)
    return Marked(written + text[done:], (places[0][0], places[0][1]), (places[1][0], places[1][1]))


def special_tokens(rows: Iterable[Mapping[str, Any]], strategy: str) -> list[str]:
    """The tokens that a strategy adds to the tokenizer, in an order that does not depend on the order of the rows.

    >>> row = {"text": "AB", "head": {"start": 0, "end": 1, "type": "X"}, "tail": {"start": 1, "end": 2, "type": "Y"}}
    >>> special_tokens([row], "typed-markers"), special_tokens([row], "dummy-tokens"), special_tokens([row], "dummify")
    (['[X]', '[/X]', '[Y]', '[/Y]'], ['@X$', '@Y$'], [])
    """
    if strategy == "dummy-tokens":
        marked = (mark(row, strategy) for row in rows)
        return sorted({one.text[slice(*span)] for one in marked for span in (one.head, one.tail)})
    names = {"markers": ["E1", "E2"]}.get(strategy, [])
    if strategy == "typed-markers":
        names = sorted({row[role]["type"] for row in rows for role in ("head", "tail")})
    return [f"[{slash}{name}]" for name in names for slash in ("", "/")]
