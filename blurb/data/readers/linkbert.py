"""The JSON lines that LinkBERT published as `data.zip`: `{tokcls,seqcls}/<name>_hf/{train,dev,test}.json`.

The examples are those of BLURB's files as far as these files have the information; they lack the documents of JNLPBA
and PICO, and the sentences of HoC (`HoC_hf` has whole abstracts). The verdict on the data shows the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from blurb.data.readers._examples import check_label, check_labels, make_examples
from blurb.data.readers.conll import bio_tags
from blurb.data.readers.tables import check_score, make_relation
from blurb.data.schema import Example
from blurb.messages import FIRST, ErrorCollector
from blurb.table_files import FileLine, Record, json_lines
from blurb.tasks import Split, Task

NEGATIVE = "0"
"""LinkBERT's conversion writes this for every label of ChemProt and DDI that contains `false`."""


def path_of(folder: Path, task: Task, split: Split) -> Path | None:
    """Path of a split in this layout; None for a task outside the layout."""
    return folder / LAYOUT[task.name][0] / f"{split}.json" if task.name in LAYOUT else None


def read(path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST) -> Iterator[Example]:
    """Reads the examples of one split, as the reader of BLURB's own file would return them."""
    _, build = LAYOUT[task.name]
    number = count()
    return make_examples(
        json_lines(path, errors),
        lambda line, record: build(record, task, f"{split}.{next(number)}", line),
        errors,
    )


def _required_texts(record: Record, keys: tuple[str, ...], line: FileLine) -> list[Any]:
    """The values of required text fields; ids may be numbers."""
    given = ((key, record.get(key)) for key in keys)
    values = [str(value) if key == "id" and type(value) is int else value for key, value in given]
    if not all(isinstance(value, str) for value in values):
        raise line.error(f"{', '.join(keys)} must be strings.")
    return values


def _words_and_tags(record: Record, line: FileLine) -> tuple[list[str], list[str]]:
    given: list[Any] = [record.get("tokens"), record.get("ner_tags")]
    if not all(
        isinstance(values, list)
        and all(isinstance(value, str) and value.strip() for value in values)
        for values in given
    ):
        raise line.error("tokens and ner_tags must be lists of non-blank strings.")
    tokens, tags = given
    if len(tokens) != len(tags) or not tokens:
        raise line.error(
            f"expected one tag per token, found {len(tokens)} tokens and {len(tags)} tags."
        )
    return tokens, tags


def _ner(record: Record, task: Task, place: str, line: FileLine) -> Example:
    tokens, tags = _words_and_tags(record, line)
    return {
        "id": place,
        "doc_id": None,
        "tokens": tokens,
        "tags": bio_tags(tags, task, lambda place: line),
    }


def _pico(record: Record, task: Task, place: str, line: FileLine) -> Example:
    """LinkBERT's conversion turns `I-X` into `B-X`; BLURB's files only have `I-`."""
    tokens, tags = _words_and_tags(record, line)
    allowed = ("O", *(f"{prefix}-{label}" for label in task.labels for prefix in "BI"))
    tags = check_labels(tags, allowed, lambda place: line)
    return {
        "id": place,
        "doc_id": None,
        "tokens": tokens,
        "tags": [f"I-{tag[2:]}" if tag != "O" else "O" for tag in tags],
    }


def _relation(record: Record, task: Task, place: str, line: FileLine) -> Example:
    name, text, label = _required_texts(record, ("id", "sentence", "label"), line)
    negative = task.metric_options.get("negative")
    if label == NEGATIVE and negative is not None:
        label = str(negative)
    # GAD's file in BLURB numbers its rows from 0 in every split.
    return make_relation(task, place if task.name == "gad" else name, text, label, line)


def _similarity(record: Record, task: Task, place: str, line: FileLine) -> Example:
    name, first, second = _required_texts(record, ("id", "sentence1", "sentence2"), line)
    score = record.get("label")
    score = check_score(score if type(score) in (int, float) else str(score), 0, 4, line)
    return {"id": name, "text_a": first, "text_b": second, "score": score}


def _document(record: Record, task: Task, place: str, line: FileLine) -> Example:
    name, text = _required_texts(record, ("id", "sentence"), line)
    flags = record.get("label")
    if (
        not isinstance(flags, list)
        or len(flags) != len(task.labels)
        or not all(flag in (0, 1) for flag in flags)
    ):
        raise line.error(f"label must be a list of {len(task.labels)} zeros and ones.")
    return {
        "id": name,
        "doc_id": name,
        "text": text,
        "labels": [label for label, flag in zip(task.labels, flags, strict=True) if flag],
    }


def _qa(record: Record, task: Task, place: str, line: FileLine) -> Example:
    name, question, context, label = _required_texts(
        record, ("id", "sentence1", "sentence2", "label"), line
    )
    return {
        "id": name,
        "question": question,
        "context": context,
        "label": check_label(label, task.labels, line),
    }


LAYOUT: dict[str, tuple[str, Callable[..., Example]]] = {
    "bc5-chem": ("tokcls/BC5CDR-chem_hf", _ner),
    "bc5-disease": ("tokcls/BC5CDR-disease_hf", _ner),
    "ncbi-disease": ("tokcls/NCBI-disease_hf", _ner),
    "bc2gm": ("tokcls/BC2GM_hf", _ner),
    "jnlpba": ("tokcls/JNLPBA_hf", _ner),
    "ebm-pico": ("tokcls/ebmnlp_hf", _pico),
    "chemprot": ("seqcls/chemprot_hf", _relation),
    "ddi": ("seqcls/DDI_hf", _relation),
    "gad": ("seqcls/GAD_hf", _relation),
    "biosses": ("seqcls/BIOSSES_hf", _similarity),
    "hoc": ("seqcls/HoC_hf", _document),
    "pubmedqa": ("seqcls/pubmedqa_hf", _qa),
    "bioasq": ("seqcls/bioasq_hf", _qa),
}
"""Task -> folder of its files, and the function that makes an example of a line."""
