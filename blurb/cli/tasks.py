"""`blurb tasks`: the tasks and their declarations."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import click

from blurb import tasks
from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.messages import BlurbError, SettingsError, UnknownName, option_to_paste
from blurb.options import Argument, Option
from blurb.records import Count, From
from blurb.system.files import write_whole
from blurb.terminal.output import Column, json_text, print_records, print_rows

PRINTED = "as the paper's Table 3 has it, in `unit`; null if it is not known"


class TaskRecord(TypedDict):
    """A task."""

    name: Annotated[str, "name of the task, as in `blurb tasks`"]
    type: Annotated[str, "task type"]
    metric: Annotated[str, "metric of the score"]
    train: Annotated[Count | None, f"size of train {PRINTED}", From("sizes.train")]
    dev: Annotated[Count | None, f"size of dev {PRINTED}", From("sizes.dev")]
    test: Annotated[Count | None, f"size of test {PRINTED}", From("sizes.test")]
    seeds: Annotated[Count, "runs to average"]
    unit: Annotated[str, "what the sizes count"]
    max_length: Annotated[Count, "longest input, in sub-tokens"]
    licence: Annotated[str, "licence of the corpus"]
    homepage: Annotated[str, "its web page"]


COLUMNS = (
    *map(Column, ("name", "type", "metric")),
    Column("train", "sizes.train", ","),
    Column("dev", "sizes.dev", ","),
    Column("test", "sizes.test", ","),
    Column("seeds", number="d"),
    Column("unit"),
)


@dataclass(frozen=True)
class Declaration(tasks.Task):
    """The declaration of one task; texts are empty and numbers null where there is none.

    :param declared_in: file and line, or task file
    """

    declared_in: str = ""


@click_command("tasks", prints=list[TaskRecord], cls=Group)
def command(*, form: str) -> None:
    """List the tasks, show one, or create a task file."""
    print_records(form, TaskRecord, tasks.all(), COLUMNS)


@click_command("show", prints=Declaration, within=command)
def show_task(name: Annotated[str, Argument(complete="one_task")], *, form: str) -> None:
    """Show the declaration of a task.

    Including its citation. NAME may be a task file.
    """
    task = tasks.load(name)
    fields = asdict(Declaration(**vars(task), declared_in=tasks.origin(task.name)))
    if form == "json":
        click.echo(json_text(fields), nl=False)
    else:  # fields that are not set are left out
        print_rows(
            ("field", "value"),
            [(field, text) for field, value in fields.items() if (text := _text_of(value))],
            form,
        )


@click_command("new", within=command)
def new(
    name: Annotated[str, Argument()],
    *,
    kind: Annotated[
        str,
        Option(
            help="Task type: ner, pico, relation, similarity, document, qa or classification.",
            flag="--type",
        ),
    ],
    train: Annotated[Path | None, Option(help="File of the train split.")] = None,
    dev: Annotated[Path | None, Option(help="File of the dev split.")] = None,
    test: Annotated[Path | None, Option(help="File of the test split.")] = None,
    whole: Annotated[
        Path | None,
        Option(help="One file, instead of these, that is cut into the folder NAME.", flag="--from"),
    ] = None,
    shares: Annotated[str, Option(help="--from: percentages of train, dev and test.")] = "80,10,10",
    seed: Annotated[int, Option(help="--from: of the draw.", low=0)] = 1,
    negative: Annotated[
        str | None,
        Option(help="Class that the metric leaves out, such as none: micro F1 of the others."),
    ] = None,
    no_negative: Annotated[
        bool, Option(help="No class is left out: the metric is accuracy.")
    ] = False,
    form: Annotated[
        str | None,
        Option(
            help="File format: conll, tsv, csv or jsonl.  [default: by the suffix of the train file]",
            flag="--format",
        ),
    ] = None,
    out: Annotated[Path | None, Option(help="File to write.  [default: NAME.toml]")] = None,
) -> None:
    """Create the task file of your own corpus.

    The corpus is in CoNLL, TSV, CSV or JSON Lines: a file for each split, or one file (--from).

    The labels come from the files; the rest is a template with comments. Documents, and equal texts, stay on one side
    of a cut. Nothing is written if a file cannot be read. Run it with: blurb run MODEL --tasks ./NAME.toml
    """
    from blurb.data.readers import splitting, task_file
    from blurb.data.readers._examples import telling_trimmed_labels
    from blurb.tasks import _file

    paths = dict(zip(tasks.SPLITS, (train, dev, test), strict=True))
    if given := [
        f"--{split}" for split, path in paths.items() if (path is None) is (whole is None)
    ]:
        raise SettingsError(
            f"{', '.join(given)} {'missing' if whole is None else 'beside --from'}",
            fix="give --train, --dev and --test, or one file with --from.",
        )
    files = [path for path in (whole, *paths.values()) if path is not None]
    form = form or SUFFIXES.get(files[0].suffix.lower(), next(iter(tasks.types.get(kind).formats)))
    tasks.check_free(name, "blurb tasks new")
    _file.check_format(kind, form)
    target = out or Path(f"{name}.toml")
    if target.suffix != tasks.SUFFIX:
        raise SettingsError(f"the name of a task file must end in {tasks.SUFFIX}.", where=target)
    named = zip(("from", *tasks.SPLITS), (whole, train, dev, test), strict=True)
    if lost := [
        f"--{option} {path}" for option, path in named if path is not None and not path.is_file()
    ]:
        raise SettingsError(f"File not found: {', '.join(lost)}. Nothing was written.")
    parts: dict[Path, str] = {}
    with telling_trimmed_labels(files[0]):
        corpus = task_file.guess(files, kind, form)
    if whole is not None:
        percent = [int(share) if share.strip().isdecimal() else 0 for share in shares.split(",")]
        if len(percent) != 3 or not all(percent) or sum(percent) != 100:
            raise SettingsError(
                f"--shares must be three percentages of 100, such as 80,10,10 (got '{shares}')."
            )
        splits = splitting.cut(whole, kind, form, [share / 100 for share in percent], seed)
        parts = {
            target.parent / name / f"{split}{whole.suffix}": content
            for split, content in splits.items()
        }
        paths = dict(zip(tasks.SPLITS, parts, strict=True))
    if there := [path for path in (target, *parts) if path.exists()]:
        raise SettingsError(f"{there[0]} exists already", fix="remove it or choose another --out.")
    _check_negative(kind, corpus.labels, negative, no_negative)
    names = {
        split: Path(os.path.relpath(str(path), target.resolve().parent)).as_posix()
        for split, path in paths.items()
    }
    text = _file.template(name, kind, form, names, corpus.labels, corpus.columns, negative)
    task, sizes = _write_task({**parts, target: text}, target)
    click.echo(f"Wrote {', '.join(map(str, (target, *parts)))}.")
    if task.labels == (task_file.UNNAMED,):
        click.echo(
            f"The tags name no entity type, so it is called {task_file.UNNAMED}; to change this, edit 'labels'."
        )
    click.echo(
        f"Labels: {', '.join(task.labels) or 'none'}. Examples: {', '.join(f'{s} {n:,}' for s, n in sizes.items())}."
    )
    click.echo(
        f"Next: blurb run MODEL{option_to_paste('--tasks', target if target.is_absolute() else f'./{target}')}"
    )


def _write_task(files: Mapping[Path, str], target: Path) -> tuple[tasks.Task, dict[str, int]]:
    """Writes a task file with its corpus, and reads both back; what cannot be read is removed again."""
    from blurb.data.readers import task_file

    try:
        for path, content in files.items():
            write_whole(path, content.encode())
        task = tasks.load(str(target))
        return task, {
            split: len(list(task_file.read(Path(task.files[split]), task, split)))
            for split in tasks.SPLITS
        }
    except (BlurbError, OSError):
        for path in files:
            with contextlib.suppress(OSError):
                path.unlink()
        click.echo(f"Nothing was written. A task file to begin with:\n\n{files[target]}", err=True)
        raise


SUFFIXES = {
    **dict.fromkeys((".jsonl", ".json"), "jsonl"),
    **dict.fromkeys((".conll", ".iob", ".bio"), "conll"),
    ".csv": "csv",
}
"""Ending of a file -> its format."""
NOTHING = ("none", "false", "no_relation", "other", "o")
"""What people call the class of examples without a relation."""


def _check_negative(
    kind: str, labels: Sequence[str], negative: str | None, no_negative: bool
) -> None:
    """Raises a SettingsError unless it is known whether the metric leaves a class out."""
    if negative is not None and no_negative:
        raise SettingsError("--negative and --no-negative are both given", fix="leave one out.")
    if negative is not None and (
        negative not in labels or "negative" not in tasks.types.get(kind).metric_keys
    ):
        raise UnknownName(f"class of a {kind} task to leave out", negative, labels)
    alike = next(
        (label for label in labels if re.sub(r"[\s-]", "_", label.casefold()) in NOTHING), ""
    )
    if (
        alike
        and negative is None
        and not no_negative
        and "negative" in tasks.types.get(kind).metric_keys
    ):
        raise SettingsError(
            f"'{alike}' may be the class of no answer, which accuracy would count as right",
            fix=f"add{option_to_paste('--negative', alike)} for micro F1 of the others, or --no-negative for accuracy.",
        )


def _text_of(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_text_of(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
