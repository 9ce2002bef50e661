"""DDI from the XML of the DDIExtraction 2013 task: one row a `<pair>`, the entities in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from blurb.data.originals._files import members
from blurb.data.schema import Row
from blurb.errors import DataError
from blurb.tasks import Split, Task

TOP = "DDIextraction_2013"
BLANKS = str.maketrans("\r\n\t", "   ")


def read(folder: Path, task: Task, split: Split) -> Iterator[Row]:
    """The pairs of a split; which files belong to it is a list of BLURB's kit, shipped as `ddi_files.tsv`."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    found = members(folder, TOP, ".xml", "the DDI corpus")
    for name in _listed()[split]:
        path = folder / TOP / name
        if name not in found:
            raise DataError("this file of the DDI corpus is missing.", path)
        try:
            document = fromstring(found[name])
        except (ParseError, DefusedXmlException) as error:
            raise DataError(f"not well-formed or not safe XML: {error}.", path) from None
        for sentence in document.iter("sentence"):
            yield from _pairs(sentence, document.get("id"), task, path)


def _pairs(sentence: Any, document: str | None, task: Task, path: Path) -> Iterator[Row]:
    text = sentence.get("text", "").translate(BLANKS)
    spans = {entity.get("id"): _span(entity.get("charOffset")) for entity in sentence.iter("entity")}
    for pair in sentence.iter("pair"):
        try:
            # Stable, so entities that start together keep the order of the pair.
            first, second = sorted((spans[pair.get("e1")], spans[pair.get("e2")]), key=lambda span: span[0])
        except KeyError as error:
            raise DataError(
                f"pair {pair.get('id')} names an entity {error} that is not in its sentence.", path
            ) from None
        label = f"DDI-{pair.get('type')}" if pair.get("ddi") == "true" else "DDI-false"
        if label not in task.labels:
            raise DataError(f"{pair.get('id')} has the unknown label {label[:40]!r}.", path)
        head, tail = ({"start": start, "end": end, "type": "DRUG"} for start, end in (first, second))
        yield {
            "id": pair.get("id"),
            "doc_id": document,
            "text": text,
            "head": head,
            "tail": tail,
            "label": label,
        }


def _span(offsets: str) -> tuple[int, int]:
    """`a-b` or, discontinuous, `a-b;c-d` with inclusive ends: from the first start to the last end, end exclusive."""
    parts = [part.split("-") for part in offsets.split(";")]
    return int(parts[0][0]), int(parts[-1][1]) + 1


@cache
def _listed() -> dict[str, list[str]]:
    listed: dict[str, list[str]] = {}
    for line in (files("blurb.data.originals") / "ddi_files.tsv").read_text(encoding="utf-8").splitlines():
        split, name = line.split("\t")
        listed.setdefault(split, []).append(name)
    return listed
