"""Task files: a TOML file declares a task without code. BLURB's own are those of this folder, read like any other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path, PurePosixPath
from typing import Any

from blurb.fields import Field, read_table
from blurb.messages import BLANKS, ErrorCollector, SettingsError, StoreError, UnknownName
from blurb.system import text_files
from blurb.system.files import check_types
from blurb.tasks import types
from blurb.tasks._task import SPLITS, Download, Source, Split, Task

READER = "blurb.data.readers.task_file:read"
"""The reader of every file with `[format]`."""
READERS = {
    "ner": "blurb.data.readers.conll:read_ner",
    "pico": "blurb.data.readers.conll:read_pico",
    "pairs": "blurb.data.readers.tables:read_pairs",
    "gad": "blurb.data.readers.tables:read_gad",
    "similarity": "blurb.data.readers.tables:read_similarity",
    "hoc": "blurb.data.readers.tables:read_hoc",
    "pubmedqa": "blurb.data.readers.tables:read_pubmedqa",
    "bioasq": "blurb.data.readers.tables:read_bioasq",
}
"""Readers of BLURB's layouts."""
ORIGINALS = {
    "chemprot": "blurb.corpora.original_readers.chemprot:read",
    "ddi": "blurb.corpora.original_readers.ddi:read",
}
BUILDERS = {
    "mtl": "blurb.corpora.build.words:build_mtl",
    "jnlpba": "blurb.corpora.build.words:build_jnlpba",
    "ebm-pico": "blurb.corpora.build.words:build_pico",
    "chemprot": "blurb.corpora.build.relations:build_chemprot",
    "ddi": "blurb.corpora.build.relations:build_ddi",
    "gad": "blurb.corpora.build.relations:build_gad",
    "biosses": "blurb.corpora.build.biosses:build",
    "hoc": "blurb.corpora.build.hoc:build",
    "pubmedqa": "blurb.corpora.build.qa:build_pubmedqa",
    "bioasq": "blurb.corpora.build.qa:build_bioasq",
}
TABLES = {"reader": READERS, "original": ORIGINALS, "builder": BUILDERS}
"""Key of a file of this folder -> the code that its value may stand for: data never names code itself."""
LABEL_METRICS = {"negative": "micro_f1_without", "positive": "binary_f1"}
"""Key of a task file that names a label -> the metric that it selects. The key is also an option of that metric."""


def _are_distinct(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) and value for value in values) and len(set(values)) == len(
        values
    )


LIMIT = 1e300
"""Largest score of a scale: differences of scores are finite then."""


def is_scale(bounds: Sequence[Any]) -> bool:
    """Whether these are the lowest and the highest score."""
    numbers = all(type(bound) in (int, float) and abs(bound) <= LIMIT for bound in bounds)
    return len(bounds) == 2 and numbers and bool(bounds[0] < bounds[1])


def _is_below(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not {"/", ".."} & {*parts}


TEXT = Field(str)
TABLE = Field(dict)
COUNT = Field(int, low=1)
SMALL_COUNT = Field(int, low=1, most=1_000_000)
COLUMN = Field(
    object,
    must="be the name of a column or its number from 0",
    rule=lambda column: type(column) in {str, int},
)
KEYS: Mapping[str, Field] = {
    "name": Field(str, required=True),
    "type": Field(str, required=True),
    "labels": Field(list, must="be a list of distinct, non-empty strings", rule=_are_distinct),
    "files": Field(
        dict,
        must=f"give one path for each of {', '.join(SPLITS)}, and nothing else",
        rule=lambda files: (
            set(files) == set(SPLITS)
            and all(isinstance(path, str) and path.strip() for path in files.values())
        ),
        required=True,
    ),
    "format": Field(dict, required=True),
    "entity": Field(
        dict,
        must='map entity types to words in lower case, for example Disease = "disease"',
        rule=lambda words: all(
            isinstance(word, str) and word and word == word.strip().lower()
            for word in words.values()
        ),
    ),
    "broader": Field(bool),
    "seeds": SMALL_COUNT,
    "max_length": SMALL_COUNT,
    "scale": Field(
        list, must="be the lowest and the highest score, for example [0, 4]", rule=is_scale
    ),
    **dict.fromkeys(("metric", *LABEL_METRICS, "title", "licence", "homepage", "citation"), TEXT),
}
ROWS = {
    "kind": TEXT,
    "columns": TABLE,
    "dummies": Field(
        list,
        must="be the one or two strings that replace the entities",
        rule=lambda dummies: _are_distinct(dummies) and len(dummies) <= 2,
    ),
}
CELLS = {
    **ROWS,
    "header": Field(bool),
    "separator": Field(
        str, must="be the text between two labels of a row, so not empty", rule=bool
    ),
}
FORMAT_KEYS: Mapping[str, Mapping[str, Field]] = {
    "conll": {"kind": TEXT, "token": Field(int), "tag": Field(int), "scheme": TEXT},
    "tsv": CELLS,
    "csv": CELLS,
    "jsonl": ROWS,
}
DOWNLOAD = {
    "url": Field(
        str,
        must="begin with https:// or http://",
        rule=lambda url: url.startswith(("https://", "http://")),
        required=True,
    ),
    "path": Field(
        str, must="be a path below the folder of the originals", rule=_is_below, required=True
    ),
    "size": COUNT,
    "sha256": TEXT,
}
SOURCE = {
    "page": Field(str, required=True),
    "files": Field(str, required=True),
    "note": TEXT,
    "downloads": Field(
        list,
        must="be tables",
        rule=lambda files: all(isinstance(file, dict) for file in files),
        keys=DOWNLOAD,
    ),
}
SHIPPED: Mapping[str, Field] = {
    **KEYS,
    "format": TABLE,
    **{name: Field(str, choices=known, noun=name) for name, known in TABLES.items()},
    "paper_order": COUNT,
    "dummified": Field(bool),
    **dict.fromkeys(("unit", "explanation"), TEXT),
    **dict.fromkeys(("sizes", "released"), Field(dict, keys=dict.fromkeys(SPLITS, COUNT))),
    "hashes": Field(dict, keys=dict.fromkeys(SPLITS, TEXT)),
    "short_labels": Field(dict, keys=TEXT),
    "source": Field(dict, keys=SOURCE),
}
"""Keys of the files of this folder, whose paths are below the data folder."""
OF_SUITES: Mapping[str, Field] = {
    **{name: field for name, field in SHIPPED.items() if name != "paper_order"},
    "files": Field(
        dict,
        keys=dict.fromkeys(
            SPLITS,
            Field(str, must="be a path below the data folder", rule=_is_below, required=True),
        ),
        required=True,
    ),
}
"""Keys of the task files of a user's suite: a place in BLURB's tables is no file's to take."""


def load(path: Path, shipped: bool = False, suite: str = "") -> Task:
    """Loads the task that a file declares (docs/extend.md).

    :param shipped: whether it is one of the files that come with blurb
    :param suite: whose file it is, if of any
    :raises SettingsError: if a key is missing, unknown or has an invalid value; names the file and the key
    :raises ErrorGroup: if several are
    """
    if not path.exists():
        raise SettingsError(
            "the task file does not exist; `blurb tasks new` writes one.", where=path
        )
    table, where, errors = text_files.read_toml(path), str(path), ErrorCollector()
    keys = SHIPPED if shipped else OF_SUITES if suite else KEYS
    content = read_table(table, Field(dict, keys=keys), where, errors)
    if keys is not KEYS and not {"format", "reader"} & table.keys():
        errors.add(SettingsError("'format' or 'reader' is missing.", where=where))
    if "type" in content:
        with errors:
            _check_for_type(content, table, _type_named(content["type"], where), where, errors)
    for label in content.get("labels", ()):
        if BLANKS.search(label):
            errors.add(
                SettingsError(
                    f"the label {label!r} has blanks at its ends", where=where, fix="remove them."
                )
            )
    errors.stop()
    # A link is a file of the suite in whose folder it lies.
    return _make_task(
        content, path.parent.resolve() / path.name if suite else path.resolve(), shipped, suite
    )


def _check_for_type(
    content: Mapping[str, Any],
    table: Mapping[str, Any],
    task_type: types.TaskType,
    where: str,
    errors: ErrorCollector,
) -> None:
    """Adds what a task of this type may not say, or lacks."""
    if task_type.has_labels and not table.get("labels"):
        errors.add(SettingsError("'labels' is missing or empty.", where=where))
    if not task_type.has_labels and table.get("labels"):
        errors.add(
            SettingsError(f"a {content['type']} task has no labels; remove 'labels'.", where=where)
        )
    for key in ("entity", "broader") if "tags" not in task_type.columns else ():
        if key in content:
            errors.add(_inapplicable_key(key, content["type"], where))
    for label in sorted(content.get("entity", {}).keys() - set(content.get("labels", ()))):
        errors.add(SettingsError(f"'entity' has {label!r}, which is no label.", where=where))
    if "format" in content:
        _check_format(content["format"], content["type"], where, errors)
    _check_metric(content, task_type, where, errors)


def _type_named(name: str, where: str) -> types.TaskType:
    if name not in types.TYPES and name not in types.names():
        raise UnknownName("task type", name, types.names(), where=where)
    return types.get(name)


def alike_labels(labels: Sequence[str]) -> list[str]:
    """Labels that differ from another one by blanks or case only.

    >>> alike_labels(["Drug", "Gene", "drug", "DR UG"])
    ['Drug', 'drug', 'DR UG']
    """
    folded = ["".join(label.split()).casefold() for label in labels]
    return [label for label, each in zip(labels, folded, strict=True) if folded.count(each) > 1]


def check_format(kind: str, form: str, where: str = "blurb tasks new") -> None:
    """Raises UnknownName or SettingsError unless the format can hold examples of the task type."""
    possible = types.get(kind).formats
    if form not in FORMAT_KEYS:
        raise UnknownName("format", form, FORMAT_KEYS, where=where)
    if form not in possible:
        raise SettingsError(
            f"the format {form} cannot hold a task of type {kind}; possible: {', '.join(possible)}.",
            where=where,
        )


def _check_format(table: Mapping[str, Any], kind: str, where: str, errors: ErrorCollector) -> None:
    name = str(table.get("kind"))
    with errors:
        check_format(kind, name, where)
    if name not in FORMAT_KEYS:
        return
    columns, keys = types.get(kind).columns, FORMAT_KEYS[name]
    if "columns" in keys:
        of_type = dict.fromkeys(("id", "doc_id", *columns), COLUMN)
        keys = {**keys, "columns": Field(dict, keys=of_type, noun="column")}
    read_table(table, Field(dict, keys=keys), where, errors, "format")
    has_entities = "head" in columns
    if "dummies" in table and not has_entities:
        errors.add(_inapplicable_key("dummies", kind, where))
    if has_entities and name in ("tsv", "csv") and "dummies" not in table:
        errors.add(
            SettingsError(
                f"'dummies' is missing. The format {name} has no spans, so the text must contain dummies in place of "
                'the two entities; for example dummies = ["@GENE$", "@DISEASE$"].',
                where=where,
            )
        )


def _inapplicable_key(key: str, kind: str, where: str) -> SettingsError:
    return SettingsError(
        f"'{key}' does not apply to tasks of type {kind}", where=where, fix="remove it."
    )


def _check_metric(
    content: Mapping[str, Any], task_type: types.TaskType, where: str, errors: ErrorCollector
) -> None:
    """Adds what is wrong with the keys that select or configure the metric."""
    keys = [key for key in (*LABEL_METRICS, "scale") if key in content]
    for key in keys:
        label = content[key]
        if key not in task_type.metric_keys:
            errors.add(_inapplicable_key(key, content["type"], where))
        elif key in LABEL_METRICS and label not in content.get("labels", [label]):
            errors.add(
                SettingsError(f"'{key}' must be one of the labels (got {label!r}).", where=where)
            )
    named = [f"'{key}'" for key in ("metric", *LABEL_METRICS) if key in content]
    if len(named) > 1:
        errors.add(
            SettingsError(
                f"give only one of {' and '.join(named)}: 'negative' is micro F1 of the other classes, 'positive' F1 "
                "of this class.",
                where=where,
            )
        )
    possible = (task_type.metric, *task_type.metrics)
    if (name := content.get("metric", task_type.metric)) not in possible:
        errors.add(UnknownName(f"metric of a {content['type']} task", name, possible, where=where))


def _metric_and_options(
    content: Mapping[str, Any], task_type: types.TaskType
) -> tuple[str, dict[str, Any]]:
    """The metric that a file names or BLURB's for the type, and its options from `negative`, `positive` or `scale`."""
    for key, metric in LABEL_METRICS.items():
        if key in content:
            return metric, {key: content[key]}
    if "scale" in task_type.metric_keys:
        low, high = content.get("scale", [0, 4])
        return task_type.metric, {"low": float(low), "high": float(high)}
    name = content.get("metric", task_type.metric)
    has_labels = task_type.metric_labels or name in task_type.metrics
    return name, {"labels": tuple(content.get("labels", ()))} if has_labels else {}


def _make_task(content: Mapping[str, Any], path: Path, shipped: bool, suite: str) -> Task:
    """The task of a file without faults. Paths are relative to the file, so that both can be moved together."""
    task_type = types.get(content["type"])
    metric, options = _metric_and_options(content, task_type)
    layout = content.get("format", {})
    given = {
        name: value
        for name, value in content.items()
        if name not in ("format", "scale", *LABEL_METRICS)
    }
    given |= {name: known[given[name]] for name, known in TABLES.items() if name in given}
    if "source" in given:
        downloads = tuple(Download(**each) for each in given["source"].get("downloads", ()))
        given["source"] = Source(**{**given["source"], "downloads": downloads})
    if not (shipped or suite):
        given["files"] = {split: str(path.parent / file) for split, file in given["files"].items()}
    defaults = {
        "title": given["name"],
        "reader": READER,
        "seeds": 5,
        "max_length": 512,
        "unit": task_type.unit,
        "licence": "not stated",
        "homepage": "",
        "citation": "",
        "dummified": bool(layout.get("dummies")),
    }
    settled = {
        "labels": tuple(content.get("labels", ())),
        "metric": metric,
        "metric_options": options,
        "layout": layout,
        "file": "" if shipped else str(path),
        "suite": suite,
    }
    return Task(**{**defaults, **given, **settled})


CODE = (*TABLES, "source")
"""Fields that run code or say where to get files: never taken from a declaration."""
DECLARED: Mapping[str, type | tuple[type, ...]] = {
    **{
        name: key.kind for name, key in SHIPPED.items() if name != "paper_order"
    },  # which may be null
    **dict.fromkeys(("metric_options", "layout"), dict),
    "labels": (list, tuple),
    **dict.fromkeys(("file", "suite"), str),
}
OPTIONS: Mapping[str, type | tuple[type, ...]] = {
    "labels": (list, tuple),
    "negative": str,
    "positive": str,
    "low": (int, float),
    "high": (int, float),
    "strict": bool,
}
"""Options of the metrics, which analyses take as they are. Those that only a metric of one's own has are left to it."""


def of_fields(content: Mapping[str, Any], registered: Task | None, where: str) -> Task:
    """The task of the fields of a declaration; fields that this version does not know are left out.

    :param registered: the task of this name that is registered, whose code is used
    :param where: start of messages
    :raises StoreError: if a field is missing or of the wrong type
    """
    known = {one.name: one for one in fields(Task) if one.name not in CODE}
    declared = {name: value for name, value in content.items() if name in known}
    for name, one in known.items():
        if name not in declared and one.default is one.default_factory is MISSING:
            raise StoreError(f"the declaration of the task has no '{name}'.", where=where)
    options = declared.get("metric_options", {})
    check_types(declared, DECLARED, where)
    check_types(options, OPTIONS, f"{where}, metric_options")
    if not all(
        isinstance(label, str) for label in (*declared["labels"], *options.get("labels", ()))
    ):
        raise StoreError(
            "'labels' in the declaration of the task must be a list of texts.", where=where
        )
    if not all(isinstance(declared["files"].get(split), str) for split in SPLITS):
        raise StoreError("the declaration of the task has no file of every split.", where=where)
    if not is_scale([options.get("low", -LIMIT), options.get("high", LIMIT)]):
        raise StoreError(
            "'low' in the declaration of the task must be less than 'high'.", where=where
        )
    code = {} if registered is None else {name: getattr(registered, name) for name in CODE}
    return Task(**{**declared, "reader": READER, **code})


METRIC = {
    "negative": '# negative = "none"      # micro F1 of all other classes, as for ChemProt and DDI',
    "positive": '# positive = "yes"       # F1 of this class, as for GAD; default: accuracy',
    "scale": "scale = [0, 4]  # lowest and highest possible score",
}


def template(
    name: str,
    kind: str,
    form: str,
    files: Mapping[Split, str],
    labels: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    negative: str | None = None,
) -> str:
    """A task file with all required keys; optional keys are comments.

    :param kind: the task type
    :param form: `conll`, `tsv`, `csv` or `jsonl`; must be one of the type's formats
    :param files: path of each split, relative to the task file
    :param labels: labels in the data; None if unknown
    :param columns: field -> column of another name
    :param negative: the class that the metric leaves out
    """
    metric = (
        METRIC if negative is None else {**METRIC, "negative": f"negative = {json.dumps(negative)}"}
    )
    task_type = types.get(kind)
    lines = [
        f'name = "{name}"',
        f'type = "{kind}"  # {", ".join(types.names())}',
        *_template_labels(task_type, task_type.sample_labels if labels is None else labels),
        "seeds = 5  # runs to average",
        "max_length = 512  # maximum number of sub-tokens of an input",
        *(metric[key] for key in task_type.metric_keys),
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
        *_template_format(task_type, form, columns or {}),
    ]
    return "\n".join(lines) + "\n"


def _template_labels(task_type: types.TaskType, labels: Sequence[str]) -> list[str]:
    if not task_type.has_labels:
        return []
    what = "entity types" if "tags" in task_type.columns else "classes"
    return [
        f"labels = {json.dumps(list(labels), ensure_ascii=False)}  # {what}, in the order of the model's outputs"
    ]


def _template_format(task_type: types.TaskType, form: str, renamed: Mapping[str, str]) -> list[str]:
    if form == "conll":
        return [
            "token = 0  # column number from 0; -1 is the last column",
            "tag = -1",
            'scheme = "bio"  # bio, io, iob1, bioul (or bilou, iobes)',
        ]
    columns = task_type.columns
    fields = [
        *task_type.fields,
        *(("head", "tail") if "head" in columns and form == "jsonl" else ()),
    ]
    used = ", ".join(f'{field} = "{name}"' for field, name in renamed.items())
    dummies = 'dummies = ["@GENE$", "@DISEASE$"]  # replace the two entities in the text'
    lines = {
        f"# Expected columns or keys: {', '.join(fields)}; optional: id, doc_id. To use other names:": True,
        f"columns = {{ {used} }}" if used else f'# columns = {{ {fields[0]} = "sentence" }}': True,
        "header = true  # false: no header row; columns gives column numbers from 0": form
        != "jsonl",
        'separator = "|"  # between two labels of a row': form != "jsonl" and "labels" in columns,
        dummies if form != "jsonl" else f"# {dummies}": "head" in columns,
    }
    return [line for line, holds in lines.items() if holds]
