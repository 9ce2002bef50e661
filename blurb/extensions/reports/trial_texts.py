"""The examples of a trial with their text, read from the user's data."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from blurb import data, tasks
from blurb.corpora.originals import load_original
from blurb.messages.errors import SettingsError
from blurb.messages.spelling import opt
from blurb.store.record import Record
from blurb.tasks import Split


class TrialTexts(NamedTuple):
    """Examples of a trial.

    :param examples: of the split, by id
    :param train: of train
    :param doubt: what to say if these are not the examples of the trial; else ""
    """

    examples: dict[str, Any]
    train: list[Any]
    doubt: str


def read(record: Record, folder: Path | None, raw: Path | None, split: Split) -> TrialTexts:
    """The examples that a trial was scored on, of BLURB's files or of the originals, as the hash in the trial says.

    :raises SettingsError: if the task has no originals, and no data folder was given
    """
    task = tasks.to_read(record.task)
    content = data.load(task, folder) if folder else None
    if raw and task.original and (content is None or content.hash != record.trial.data):
        original = load_original(task, raw)
        content = original if content is None or original.hash == record.trial.data else content
    if content is None:
        raise SettingsError(f"{task.name} has no originals to read", fix=f"add {opt('data')} with its data folder.")
    doubt = ""
    if content.hash != record.trial.data:
        hint = f" If it used the original releases, add {opt('raw')}." if task.original and not raw else ""
        doubt = f"The trial used other data than this; the text shown may belong to other examples.{hint}"
    return TrialTexts({str(one["id"]): one for one in content.splits[split]}, list(content.splits["train"]), doubt)
