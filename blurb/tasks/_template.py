"""The text of a new task file, for `blurb tasks new`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from blurb.tasks._file import FIELDS, FORMATS
from blurb.tasks._task import Split

EXAMPLES = {
    "ner": ["Gene"], "pico": ["PAR", "INT", "OUT"], "relation": ["interacts", "none"], "similarity": [],
    "document": ["treatment", "prevention"], "qa": ["yes", "no"],
}  # fmt: skip


def text(name: str, kind: str, form: str, files: Mapping[Split, str], labels: Sequence[str] | None = None) -> str:
    """A task file with everything that it must say, and comments on what it may.

    :param kind: the task type
    :param form: `conll`, `tsv` or `jsonl`; one that can hold the type
    :param files: path of each split, from the task file
    :param labels: those of the data, None if they are not known
    """
    assert kind in FORMATS[form]
    lines = [
        f'name = "{name}"',
        f'type = "{kind}"  # ner, pico, relation, similarity, document, qa',
        *_labels(kind, EXAMPLES[kind] if labels is None else labels),
        "seeds = 5  # runs to average",
        "max_length = 512  # sub-tokens of the longest input",
        *_metric(kind),
        '# title = "My corpus"',
        '# licence = "..."',
        '# homepage = "..."',
        '# citation = "..."',
        "",
        "[files]  # from this file",
        *(f"{split} = {json.dumps(path)}" for split, path in files.items()),
        "",
        "[format]",
        f'kind = "{form}"  # {", ".join(FORMATS)}',
        *_format(kind, form),
    ]
    return "\n".join(lines) + "\n"


def _labels(kind: str, labels: Sequence[str]) -> list[str]:
    if kind == "similarity":
        return []
    what = "entity types" if kind in ("ner", "pico") else "classes"
    return [f"labels = {json.dumps(list(labels), ensure_ascii=False)}  # {what}, in the order of the outputs"]


def _metric(kind: str) -> list[str]:
    return {
        "relation": [
            '# negative = "none"      # micro F1 of all classes but this one, as for ChemProt and DDI',
            '# positive = "interacts" # or F1 of this class, as for GAD; without either: accuracy',
        ],
        "qa": ['# positive = "yes"  # F1 of this class; without it: accuracy'],
        "similarity": ["scale = [0, 4]  # lowest and highest score"],
    }.get(kind, [])


def _format(kind: str, form: str) -> list[str]:
    if form == "conll":
        return [
            "token = 0  # number of the column, from 0; -1 is the last",
            "tag = -1",
            'scheme = "bio"  # bio, io, bioul (or bilou, iobes)',
        ]
    fields = [*FIELDS[kind], *(("head", "tail") if kind == "relation" and form == "jsonl" else ())]
    lines = [f"# Columns or keys are called {', '.join(fields)}, and id, doc_id if there are any; or say how:"]
    lines.append(f'# columns = {{ {fields[0]} = "sentence" }}')
    if form == "tsv":
        lines.append("header = true  # false: no header, and columns gives numbers from 0")
    if form == "tsv" and kind == "document":
        lines.append('separator = "|"  # between the labels of a row')
    if kind == "relation":
        comment = "" if form == "tsv" else "# "
        lines.append(f'{comment}dummies = ["@GENE$", "@DISEASE$"]  # stand for the two entities in the text')
    return lines
