"""A data folder, and a task file with its corpus."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from blurb import tasks
from blurb.data import loading
from blurb.data.schema import leaked_ids
from blurb.doctor._base import Diagnosis, Fact, Fault, as_fault, few
from blurb.messages import BlurbError, ErrorCollector, option_to_paste
from blurb.system import text_files
from blurb.tasks import SPLITS, Split, Task
from blurb.tasks._file import alike_labels

AUDIT = "blurb data audit"
PREPARE = "Make it with blurb data prepare from the original release"


def examine(folder: Path) -> Diagnosis:
    """The faults of a data folder in BLURB's layout: of each file, and by the counts of BLURB's data."""
    chosen = tasks.select_tasks("all")
    findings = [loading.examine_task(task, folder) for task in chosen]
    facts: dict[str, Fact] = {
        "datasets": len(findings),
        "whole": sum(not each.missing for each in findings),
        "identical_to_blurb": sum(each.verdict == "identical" for each in findings),
        "leaks_and_copies": f"{AUDIT}{option_to_paste('--data', folder)}",
    }
    if all(len(each.missing) == len(SPLITS) for each in findings):
        hint = (
            loading.hint_at_folder(chosen, folder)
            .strip()
            .removeprefix("Did you mean ")
            .removesuffix("?")
        )
        fix = (
            f"Use {hint}."
            if hint
            else "blurb data download and blurb data prepare make such a folder."
        )
        return Diagnosis(
            "data", str(folder), [Fault(str(folder), "None of the data files is here.", fix)], facts
        )
    problems = [problem for finding in findings for problem in _dataset_faults(finding, folder)]
    fix = "blurb data prepare writes file and manifest again, if this was not meant."
    problems += dict.fromkeys(
        as_fault(note, folder, fix) for finding in findings for note in finding.notes
    )
    return Diagnosis("data", str(folder), problems, facts)


def _dataset_faults(finding: loading.DatasetVerification, folder: Path) -> Iterator[Fault]:
    task = finding.task
    where = task.source.page if task.source else task.homepage
    if finding.missing:
        files = ", ".join(task.files[split] for split in finding.missing)
        yield Fault(f"{folder}: {task.name}", f"Missing: {files}.", f"{PREPARE} ({where}).")
    for file, faults in groupby(finding.errors, lambda error: getattr(error, "path", folder)):
        yield from few(
            [as_fault(error, folder, f"{PREPARE}; or correct the file.") for error in faults], file
        )
    if finding.verdict == "differs" and not finding.errors:
        counts = ", ".join(
            f"{split} {count:,} instead of {expected:,}"
            for split, count in finding.counts.items()
            if (expected := task.expected(split)) is not None and expected != count
        )
        reason = (
            f" ({task.unit}: {counts})"
            if counts
            else " (the numbers are right, the examples are others)"
        )
        yield Fault(
            f"{folder}: {task.name}",
            f"These are not BLURB's examples{reason}.",
            f"{PREPARE}. Rows made with it say that the data was not verified.",
        )


def examine_task_file(path: Path) -> Diagnosis:
    """The faults of a task file, of the files that it names, and of their examples."""
    errors = ErrorCollector()
    task = None
    with errors:
        task = tasks.load(str(path))
    fix = "docs/extend.md has all keys; blurb tasks new writes a template."
    facts: dict[str, Fact] = {}
    problems = [*(as_fault(error, path, fix) for error in errors.errors), *_missing(path)]
    if task is not None:
        problems += _corpus(task, facts)
    return Diagnosis("task file", str(path), problems, facts)


def _missing(path: Path) -> Iterator[Fault]:
    """Files that a task file names, and that are not there."""
    try:
        files = text_files.read_toml(path).get("files")
    except BlurbError:  # told by `load`
        return
    for split, name in files.items() if isinstance(files, dict) else ():
        if (
            split in SPLITS
            and isinstance(name, str)
            and not (path.resolve().parent / name).is_file()
        ):
            yield Fault(
                str(path),
                f"The file of {split} is missing: {name}.",
                "Correct its path in [files].",
            )


def _corpus(task: Task, facts: dict[str, Fact]) -> Iterator[Fault]:
    """Every example that cannot be read."""
    if same := alike_labels(task.labels):
        what = f"These labels differ by blanks or case only: {', '.join(same)}."
        yield Fault(
            str(task.file),
            what,
            "If they mean the same, spell them alike in the file and in the corpus.",
        )
    facts["leaks_and_copies"] = f"{AUDIT}{option_to_paste('--tasks', task.file)}"
    examples: dict[Split, list[Any]] = {}
    for split in SPLITS:
        path = Path(task.files[split])
        if not path.is_file():
            continue
        errors = ErrorCollector()
        examples[split] = loading.read_split(task, path.parent, split, errors)
        facts[f"{split}_examples"] = len(examples[split])
        yield from few([as_fault(one, path, "Correct the line.") for one in errors.errors], path)
    if leaked := sorted(leaked_ids(examples)):
        what = f"Inputs of test that occur in train, a leak: {len(leaked):,}, such as {', '.join(leaked[:3])}."
        yield Fault(
            str(task.file), what, f"{AUDIT}{option_to_paste('--tasks', task.file)} has all ids."
        )
