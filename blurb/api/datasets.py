"""`blurb.load_dataset`: a dataset as every trial reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from blurb import data as data_
from blurb import tasks
from blurb.messages.errors import SettingsError
from blurb.planning.request import check_files, folders

if TYPE_CHECKING:
    from datasets import DatasetDict


def load_dataset(
    task: str, data: Path | str | None = None, *, suite: str = "blurb", original: bool = False
) -> DatasetDict:
    """The examples of a task as `train`, `validation` and `test`; their columns are in docs/data.md.

    Nothing is tokenised or tagged yet. `info.description` of each split has the verdict on the data.

    :param task: name or task file
    :param data: data folder in BLURB's layout; not needed for a task file, nor for `suite="demo"`
    :param original: read the original release, which has the names of the entities (ChemProt, DDI); `data` is then the
        folder of the originals
    :raises DataError: (file, line) if a file is missing or invalid
    """
    from datasets import DatasetDict

    chosen = tasks.load_selection(task)
    if len(chosen) > 1:
        raise SettingsError(f"load_dataset needs one task (got {', '.join(one.name for one in chosen)}).")
    folder, _ = folders(suite, None if data is None else Path(data), None, chosen)
    if original:
        from blurb.corpora.originals import load_original

        content = load_original(chosen[0], folder)
    else:
        check_files(chosen, folder)
        content = data_.load(chosen[0], folder)
    names = {"train": "train", "dev": "validation", "test": "test"}
    for part in content.splits.values():
        part.info.description = f"{chosen[0].title}; data {content.verdict}; hash {content.hash[:12]}"
    return DatasetDict({names[split]: part for split, part in content.splits.items()})
