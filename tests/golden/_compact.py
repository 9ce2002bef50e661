"""Long outputs as short texts that still show what changed: pages as their words, JSON with a record a line."""

import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

WIDE = 160
"""Characters of a line of compact JSON."""
PRINTED = re.compile(r"(^\$ blurb .*\n)((?:.*\n)*?)(?=\[stderr\]\n|\[exit \d+\]\n)", re.MULTILINE)
"""A command of a transcript, and its standard output."""
LONG = 60
"""Lines from which JSON is made compact."""
BLOCKS = (
    "p",
    "tr",
    "h1",
    "h2",
    "h3",
    "li",
    "dt",
    "dd",
    "section",
    "nav",
    "summary",
    "figcaption",
    "text",
    "g",
    "caption",
)


class _Words(HTMLParser):
    """The visible words of a page, a line for each block, and its markup without them."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[list[str]] = [[]]
        self.markup: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in ("style", "script")
        self.markup.append(tag + "".join(f" {name}" for name, _ in attrs))
        if tag in BLOCKS and self.lines[-1]:
            self.lines.append([])

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if self.silent:
            self.markup.append(data)
        elif words := " ".join(data.split()):
            self.lines[-1].append(words)


def page(text: str) -> str:
    """The words of an HTML page block by block, then the hashes of its markup and of the values of its attributes.

    So a number that changes is seen in the diff, and a change of the template is one line.
    """
    words = _Words()
    words.feed(text)
    values = re.sub(r">[^<]*<", "><", text)
    shown = [" | ".join(line) for line in words.lines if line]
    hashes = [
        f"[{name} sha256 {_sha256(of)}]"
        for name, of in (("markup", "\n".join(words.markup)), ("values", values))
    ]
    return "\n".join([*shown, *hashes]) + "\n"


def transcript(text: str) -> str:
    """Commands and what they printed; JSON of more than `LONG` lines with as much on a line as fits."""
    return PRINTED.sub(lambda match: match[1] + _printed(match[2]), text)


def _printed(text: str) -> str:
    if text.count("\n") <= LONG or not text.startswith(("{", "[")):
        return text
    try:
        return f"{compact(json.loads(text))}\n"
    except json.JSONDecodeError:
        return text


def compact(value: Any, indent: int = 0) -> str:
    """JSON in which what fits into `WIDE` characters stands on one line; keys keep their order."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDE or not isinstance(value, dict | list) or not value:
        return line
    space = " " * (indent + 1)
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {compact(each, indent + 1)}"
            for key, each in value.items()
        ]
        return "{\n" + ",\n".join(space + part for part in parts) + f"\n{space[1:]}}}"
    if all(not isinstance(each, dict | list) for each in value):  # long lists of numbers: wrapped
        return (
            "[\n"
            + "\n".join(space + part for part in _wrapped(value, WIDE - indent))
            + f"\n{space[1:]}]"
        )
    return (
        "[\n" + ",\n".join(space + compact(each, indent + 1) for each in value) + f"\n{space[1:]}]"
    )


def _wrapped(values: list[Any], width: int) -> list[str]:
    lines, line = [], ""
    for place, each in enumerate(values):
        part = json.dumps(each, ensure_ascii=False) + ("," if place + 1 < len(values) else "")
        if line and len(line) + len(part) + 1 > width:
            lines.append(line)
            line = ""
        line = f"{line} {part}".strip()
    return [*lines, line]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
