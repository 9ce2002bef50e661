"""Gets datasets: what can be downloaded is, and what is there is prepared and verified. What is right is left alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from blurb.corpora.build import MissingRelease, prepare
from blurb.corpora.download import fetch
from blurb.data.loading import examine
from blurb.messages.errors import DataError
from blurb.tasks import Download, Task

RIGHT = ("identical", "counts only")


@dataclass(frozen=True)
class Got:
    """What came of a dataset.

    :param verdict: on the files in the data folder, or "missing", "broken"
    :param needs: what is still to be done, and where; "" if it is complete
    """

    task: Task
    verdict: str
    needs: str = ""


def get(task: Task, raw: Path, data: Path, download: Callable[[Download], object] | None = None) -> Got:
    """Brings a dataset into the data folder, unless it is there.

    :param raw: folder of the original releases, where one may put by hand what needs a registration
    :param download: fetches a file to `raw`; by default without showing progress
    """
    if data.is_dir() and str((there := examine(task, data)).verdict) in RIGHT and not there.missing:
        return Got(task, str(there.verdict))
    raw.mkdir(parents=True, exist_ok=True)
    try:
        verdict = _prepared(task, raw, data)
        if verdict is None:
            for file in task.source.downloads if task.source else ():
                (download or (lambda one: fetch(one, raw)))(file)
            verdict = _prepared(task, raw, data)
    except DataError as error:
        return Got(task, "broken", str(error))
    if verdict is None:
        return Got(task, "missing", by_hand(task, raw))
    return Got(task, verdict, "" if verdict in RIGHT else f"these are not BLURB's examples: {by_hand(task, raw)}")


def _prepared(task: Task, raw: Path, data: Path) -> str | None:
    """The verdict on what was made of the original; None if that is not there."""
    try:
        return str(prepare(task, raw, data)[0].verdict)
    except MissingRelease:
        return None


def by_hand(task: Task, raw: Path) -> str:
    """Where a release is to be had, and where its files belong."""
    if task.source is None:
        return "its task names no source"
    note = f" ({task.source.note})" if task.source.note else ""
    return f"from {task.source.page}{note}, below {raw}: {task.source.files}"
