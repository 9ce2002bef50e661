"""Text of a new task file, for `blurb tasks new`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from blurb.tasks import types
from blurb.tasks._file import FORMAT_KEYS
from blurb.tasks._task import Split
from blurb.tasks.types import TaskType

METRIC = {
    "negative": '# negative = "none"      # micro F1 of all other classes, as for ChemProt and DDI',
    "positive": '# positive = "yes"       # F1 of this class, as for GAD; default: accuracy',
    "scale": "scale = [0, 4]  # lowest and highest possible score",
}


def text(
    name: str,
    kind: str,
    form: str,
    files: Mapping[Split, str],
    labels: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> str:
    """A task file with all required keys; optional keys are comments.

    :param kind: the task type
    :param form: `conll`, `tsv` or `jsonl`; must be one of the type's formats
    :param files: path of each split, relative to the task file
    :param labels: labels in the data; None if unknown
    :param columns: field -> column of another name
    """
    task_type = types.get(kind)
    assert form in task_type.formats
    lines = [
        f'name = "{name}"',
        f'type = "{kind}"  # {", ".join(types.names())}',
        *_labels(task_type, task_type.sample_labels if labels is None else labels),
        "seeds = 5  # runs to average",
        "max_length = 512  # maximum number of sub-tokens of an input",
        *(METRIC[key] for key in task_type.metric_keys),
        *(f'# metric = "{name}"   # default: {task_type.metric}' for name in task_type.metrics),
        '# title = "My corpus"',
        '# licence = "..."',
        '# homepage = "..."',
        '# citation = "..."',
        "",
        "[files]  # relative to this file",
        *(f"{split} = {json.dumps(path)}" for split, path in files.items()),
        "",
        "[format]",
        f'kind = "{form}"  # {", ".join(FORMAT_KEYS)}',
        *_format(task_type, form, columns or {}),
    ]
    return "\n".join(lines) + "\n"


def _labels(task_type: TaskType, labels: Sequence[str]) -> list[str]:
    if not task_type.has_labels:
        return []
    what = "entity types" if "tags" in task_type.columns else "classes"
    return [f"labels = {json.dumps(list(labels), ensure_ascii=False)}  # {what}, in the order of the model's outputs"]


def _format(task_type: TaskType, form: str, renamed: Mapping[str, str]) -> list[str]:
    if form == "conll":
        return [
            "token = 0  # column number from 0; -1 is the last column",
            "tag = -1",
            'scheme = "bio"  # bio, io, iob1, bioul (or bilou, iobes)',
        ]
    columns = task_type.columns
    fields = [*task_type.fields, *(("head", "tail") if "head" in columns and form == "jsonl" else ())]
    lines = [f"# Expected columns or keys: {', '.join(fields)}; optional: id, doc_id. To use other names:"]
    used = ", ".join(f'{field} = "{name}"' for field, name in renamed.items())
    lines.append(f"columns = {{ {used} }}" if used else f'# columns = {{ {fields[0]} = "sentence" }}')
    if form == "tsv":
        lines.append("header = true  # false: no header row; columns gives column numbers from 0")
    if form == "tsv" and "labels" in columns:
        lines.append('separator = "|"  # between two labels of a row')
    if "head" in columns:
        comment = "" if form == "tsv" else "# "
        lines.append(f'{comment}dummies = ["@GENE$", "@DISEASE$"]  # replace the two entities in the text')
    return lines
