"""A store: row files, trials, and what killed processes left."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from blurb import metrics
from blurb.doctor import sweeps
from blurb.doctor._base import Fact, Problem, Report, of_error
from blurb.messages.errors import BlurbError, StoreError, UnknownName, ended
from blurb.store import planned_rows as rows
from blurb.store import row_contents
from blurb.store.store import ASIDE, OLD, OWNERS, Store, left_out
from blurb.system.files import read_json, size_of

RUN_AGAIN = "Run its blurb run command again."


def examine(root: Path) -> Report:
    """What is wrong with a store, or with one trial of it; of a store of another schema only that."""
    is_trial = (root / "spec.json").is_file()
    try:
        store = Store(root.resolve().parents[2] if is_trial else root)
    except StoreError as error:  # of another schema: nothing in it can be read
        return Report("trial" if is_trial else "store", str(root), [of_error(error, root, "")])
    if is_trial:
        return Report("trial", str(root), list(_trial(store, root)))
    problems = [*_rows(store), *_owners(store)]
    for path in store.trial_folders():
        problems += _trial(store, path)
    of_sweeps, open_sweeps = sweeps.examine(root)
    problems += [*_failures(store), *_leftovers(store), *of_sweeps]
    return Report("store", str(root), problems, {**_facts(store), **open_sweeps})


def _rows(store: Store) -> list[Problem]:
    told: list[BlurbError] = []
    rows.read(store, told.append)
    return [of_error(error, store.root, RUN_AGAIN) for error in told]


def _owners(store: Store) -> Iterator[Problem]:
    for path in sorted(store.root.glob(f"*/{OWNERS}")):
        try:
            if not isinstance(read_json(path).get("models"), list):
                raise StoreError("no list of models.", where=path)
        except StoreError as error:
            yield of_error(error, path, "Delete it; it is written again by the next blurb run.")


def _trial(store: Store, path: Path) -> Iterator[Problem]:
    try:
        if damage := store.damage(path):
            if damage == ["spec.json"] and (path / "spec.json").is_file():
                spec = store.read_spec(path)
                if (spec.task, spec.hash) != (path.parent.name, path.name):
                    yield Problem(
                        str(path),
                        f"Its spec.json is that of trial {spec.hash}: the folder was renamed or altered.",
                        f"Delete the folder. {RUN_AGAIN}",
                    )
                    return
            if not row_contents.is_running(store, path):
                yield of_error(left_out(path, damage), path, RUN_AGAIN)
            return
        record = store.read(path)
        record.score("test")
        _ = record.task.task_type, metrics.get(record.task.metric)
        if record.metrics.get("metrics_version") != metrics.VERSION:
            yield Problem(str(path), "Its scores were computed by metrics of another version.", "blurb rescore")
    except UnknownName as error:
        yield of_error(error, path, "Install the plug-in that has it, or delete the trial.")
    except (BlurbError, OSError) as error:
        yield of_error(error, path, RUN_AGAIN)
    except (KeyError, TypeError, ValueError) as error:
        yield Problem(str(path), f"It cannot be understood: {type(error).__name__}: {error}.", RUN_AGAIN)


def _failures(store: Store) -> Iterator[Problem]:
    """Trials that failed, and have not been done since."""
    for file in sorted(store.root.glob("*/*/*.failed.json")):
        path = file.with_name(file.name.removesuffix(".failed.json"))
        try:
            reason = str(read_json(file).get("message", "for a reason that is not known"))
        except StoreError as error:
            reason = str(error)
        if not path.exists() and not row_contents.is_running(store, path):
            yield Problem(
                str(path), ended(f"The trial failed: {reason}"), f"{RUN_AGAIN} The traceback is in {file.name}."
            )


def _leftovers(store: Store) -> Iterator[Problem]:
    """Temporary folders of trials whose process was killed."""
    for path in sorted(left for ending in ASIDE for left in store.root.glob(f"*/*/.*.{ending}")):
        trial = path.with_name(path.name[1:].partition(".")[0])
        if path.is_dir() and not row_contents.is_running(store, trial):
            size = size_of(path) / 1e6
            # What was about to be replaced may be whole, and is then put back by the next run.
            fix = RUN_AGAIN if path.suffix == f".{OLD}" and not trial.exists() else f"rm -r {shlex.quote(str(path))}"
            yield Problem(str(path), f"A process that was killed left it ({size:,.1f} MB).", fix)


def _facts(store: Store) -> dict[str, Fact]:
    known = rows.read(store, lambda text: None)
    trials = [trial for row in known for trial in row_contents.trials(store, row)]
    states = {state.replace(" ", "_"): sum(one.state == state for one in trials) for state in row_contents.STATES}
    others = row_contents.unlisted(store, known)
    return {"rows": len(known), "trials": len(trials), **states, "in_no_row": len(others), "bytes": size_of(store.root)}
