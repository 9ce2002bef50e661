"""Files of BLURB with an example a row, or an entry of a JSON object: relations, pairs, HoC, questions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blurb.data.readers._examples import check_label, make_examples, trim_label
from blurb.data.schema import Example
from blurb.messages import FIRST, DataError, ErrorCollector
from blurb.table_files import FileLine, json_object, rows_of, text_of
from blurb.tasks import Split, Task

DUMMIES = {
    "chemprot": (("@CHEMICAL$", "@GENE$"), "@CHEM-GENE$"),
    "ddi": (("@DRUG$", "@DRUG$"), "@DRUG-DRUG$"),
    "gad": (("@GENE$", "@DISEASE$"), None),
}
"""Task -> the dummies of the two entities, and the one that replaces both if they overlap."""


def read_pairs(
    path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST
) -> Iterator[Example]:
    """ChemProt and DDI: `pair TAB sentence TAB label`; a pair is `pmid.Ta.Tb`, or an id of DDI."""
    return make_examples(
        rows_of(path, 3, errors=errors),
        lambda line, cells: make_relation(task, cells[0], cells[1], cells[2], line),
        errors,
    )


def read_gad(
    path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST
) -> Iterator[Example]:
    """`index TAB sentence TAB label` with a header; the index starts at 0 in every file and names no document."""
    return make_examples(
        rows_of(path, 3, ("index", "sentence", "label"), errors),
        lambda line, cells: make_relation(task, f"{split}.{cells[0]}", cells[1], cells[2], line),
        errors,
    )


def make_relation(task: Task, id_: str, text: str, label: str, line: FileLine) -> Example:
    """An example of ChemProt, DDI or GAD; its spans are those of the two dummies, or of the one that replaces both."""
    pair, overlap = DUMMIES[task.name]
    doc_id = {"chemprot": id_.split(".")[0], "ddi": ".".join(id_.split(".")[:2])}.get(task.name)
    dummies = sorted({*pair, *([overlap] if overlap else [])})
    spans = [
        (match.start(), match.end())
        for match in re.finditer("|".join(map(re.escape, dummies)), text)
    ]
    names = [text[start:end] for start, end in spans]
    if names == [overlap]:
        spans = spans * 2
    elif sorted(names) != sorted(pair):
        expected = " and ".join(pair) + (f", or {overlap}" if overlap else "")
        raise line.error(
            f"expected exactly {expected} in the sentence; found {', '.join(names) or 'none'}."
        )
    head, tail = (
        {"start": start, "end": end, "type": text[start + 1 : end - 1]} for start, end in spans
    )
    return {
        "id": id_,
        "doc_id": doc_id,
        "text": text,
        "head": head,
        "tail": tail,
        "label": check_label(label, task.labels, line),
    }


def read_similarity(
    path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST
) -> Iterator[Example]:
    """BIOSSES: `pair_id TAB sent1 TAB sent2 TAB score`, the score being a mean of five annotators, from 0 to 4."""

    def example(line: FileLine, cells: list[str]) -> Example:
        pair, first, second, score = cells
        return {
            "id": pair,
            "text_a": first,
            "text_b": second,
            "score": check_score(score, 0, 4, line),
        }

    return make_examples(
        rows_of(path, 4, ("pair_id", "sent1", "sent2", "score"), errors), example, errors
    )


def check_score(value: Any, low: float, high: float, line: FileLine) -> float:
    """A value as a score; DataError if it is none of the scale."""
    try:
        score = float("nan" if isinstance(value, bool) else value)
    except (TypeError, ValueError, OverflowError):
        score = float("nan")
    if not low <= score <= high:
        raise line.error(f"expected a score from {low:g} to {high:g}, found {str(value)[:20]!r}.")
    return score


def read_hoc(
    path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST
) -> Iterator[Example]:
    """HoC: `labels TAB sentence TAB PMID_s<i>`, labels as `0_0,1_1,...,9_0` in alphabetical order of the hallmarks.

    `doc_id` is the abstract, which is what is scored.
    """
    size = len(task.labels)

    def example(line: FileLine, cells: list[str]) -> Example:
        flags, text, index = cells
        given = [trim_label(flag) for flag in flags.split(",")]
        wanted = [(f"{place}_0", f"{place}_1") for place in range(size)]
        if len(given) != size or not all(
            flag in pair for flag, pair in zip(given, wanted, strict=True)
        ):
            raise line.error(
                f"expected labels 0_x,1_x,...,{size - 1}_x with x 0 or 1; found {flags[:60]!r}."
            )
        doc_id, separator, sentence = index.rpartition("_s")
        if not separator or not sentence.isdigit():
            raise line.error(f"expected an index like 12345678_s0, found {index[:40]!r}.")
        labels = [
            label for label, flag in zip(task.labels, given, strict=True) if flag.endswith("_1")
        ]
        return {"id": index, "doc_id": doc_id, "text": text, "labels": labels}

    return make_examples(rows_of(path, 3, ("labels", "sentence", "index"), errors), example, errors)


def read_bioasq(
    path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST
) -> Iterator[Example]:
    """BioASQ: `id TAB question TAB passage TAB label`; the passage is all snippets joined by blanks."""

    def example(line: FileLine, cells: list[str]) -> Example:
        id_, question, passage, label = cells
        return {
            "id": id_,
            "question": question,
            "context": passage,
            "label": check_label(label, task.labels, line),
        }

    return make_examples(rows_of(path, 4, errors=errors), example, errors)


def read_pubmedqa(
    path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST
) -> Iterator[Example]:
    """PubMedQA's own JSON, in the reasoning-required setting: question and CONTEXTS; never the LONG_ANSWER."""
    text, top = text_of(path), FileLine(path, 1)

    def example(line: FileLine, entry: tuple[str, Mapping[str, Any]]) -> Example:
        try:
            return _make_question(task, *entry)
        except DataError as error:
            place = max(0, text.find(json.dumps(entry[0])))
            raise line.below(text.count("\n", 0, place)).error(
                f"question {entry[0]!r}: {error.what}"
            ) from None

    return make_examples(
        ((top, entry) for entry in json_object(text, top).items()), example, errors
    )


def _make_question(task: Task, pmid: str, content: Mapping[str, Any]) -> Example:
    try:
        question, contexts, label = (
            content["QUESTION"],
            content["CONTEXTS"],
            content["final_decision"],
        )
    except (KeyError, TypeError):
        raise DataError("expected an object with QUESTION, CONTEXTS and final_decision.") from None
    if not (
        isinstance(question, str)
        and isinstance(contexts, list)
        and all(isinstance(c, str) for c in contexts)
    ):
        raise DataError("QUESTION must be a string and CONTEXTS a list of strings.")
    label = trim_label(label) if isinstance(label, str) else label
    if label not in task.labels:
        raise DataError(
            f"final_decision must be {', '.join(task.labels)} (got {str(label)[:20]!r})."
        )
    return {"id": pmid, "question": question, "context": " ".join(contexts), "label": label}
