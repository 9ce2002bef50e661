"""DDI from the XML of the DDIExtraction 2013 task: one example per `<pair>`, with entities in text order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blurb.corpora.releases import BLANKS, Release, load_split_lists, parse_xml
from blurb.data.schema import Example
from blurb.messages import DataError
from blurb.tasks import Split, Task

TOP = "DDIextraction_2013"
ARCHIVES = ("DDIextraction_2013*", "hierarchical-RNNs-model-for-DDI-extraction*")


def read(folder: Path, task: Task, split: Split) -> Iterator[Example]:
    """Reads the pairs of a split, from the files that BLURB's kit lists."""
    return rows(Release(folder), task, split)


def rows(release: Release, task: Task, split: Split) -> Iterator[Example]:
    """Like `read`, from an open release."""
    for file in release.files(
        [f"{TOP}/{name}" for name in load_split_lists("ddi")[split]], ARCHIVES
    ).values():
        document = parse_xml(file.content, file.path)
        for sentence in document.iter("sentence"):
            yield from _examples_of_sentence(sentence, document.get("id"), task, file.path)


def _examples_of_sentence(
    sentence: Any, document: str | None, task: Task, path: Path
) -> Iterator[Example]:
    text = sentence.get("text", "").translate(BLANKS)
    spans = {
        entity.get("id"): _span_of_offsets(entity.get("charOffset", ""), path)
        for entity in sentence.iter("entity")
    }
    for pair in sentence.iter("pair"):
        try:
            # The sort is stable: entities with the same start keep the order of the pair.
            first, second = sorted(
                (spans[pair.get("e1")], spans[pair.get("e2")]), key=lambda span: span[0]
            )
        except KeyError as error:
            raise DataError(
                f"pair {pair.get('id')} refers to the entity {error}, which is not in its sentence.",
                path,
            ) from None
        label = f"DDI-{pair.get('type')}" if pair.get("ddi") == "true" else "DDI-false"
        if label not in task.labels:
            raise DataError(f"pair {pair.get('id')} has the unknown label {label[:40]!r}.", path)
        if not (0 <= first[0] < first[1] <= len(text) and second[0] < second[1] <= len(text)):
            raise DataError(f"pair {pair.get('id')} has an entity outside its sentence.", path)
        if not pair.get("id"):
            raise DataError("a pair has no id.", path)
        head, tail = (
            {"start": start, "end": end, "type": "DRUG"} for start, end in (first, second)
        )
        yield {
            "id": pair.get("id"),
            "doc_id": document,
            "text": text,
            "head": head,
            "tail": tail,
            "label": label,
        }


def _span_of_offsets(offsets: str, path: Path) -> tuple[int, int]:
    """`a-b` or, discontinuous, `a-b;c-d` with inclusive ends: from the first start to the last end, end exclusive."""
    numbers = offsets.replace(";", "-").split("-")
    if len(numbers) % 2 or not all(number.isdecimal() and len(number) < 10 for number in numbers):
        raise DataError(f"{offsets[:40]!r} is not a valid span of characters.", path)
    return int(numbers[0]), int(numbers[-1]) + 1
