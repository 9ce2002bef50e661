"""Many models at once: a table of checkpoints with the names of their rows and with tags."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from blurb.messages.errors import DataError, ErrorCollector
from blurb.results import csv_files


@runtime_checkable
class LoadedModel(Protocol):
    """A `PreTrainedModel`, as far as one is told from other objects without transformers."""

    parameters: Any


@runtime_checkable
class LoadedTokenizer(Protocol):
    """A `PreTrainedTokenizerBase`, likewise."""

    save_pretrained: Any


if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
else:
    PreTrainedModel, PreTrainedTokenizerBase = LoadedModel, LoadedTokenizer
Model: TypeAlias = str | Path | PreTrainedModel
Tokenizer: TypeAlias = str | Path | PreTrainedTokenizerBase
COLUMNS = ("model", "name", "tags")


@dataclass(frozen=True)
class NamedModel:
    """A model with the name of its row.

    :param name: None for the last part of the reference
    :param tags: words to find the row by; no part of any identity
    """

    model: Model
    name: str | None = None
    tags: tuple[str, ...] = ()

    def found(self) -> NamedModel:
        """With the absolute path of a folder that is there: once it is gone, `runs/mine` would be an id of the Hub."""
        typed = self.model
        if isinstance(typed, str | Path) and os.sep in str(typed) and Path(typed).is_dir():
            return replace(self, model=os.path.abspath(typed))
        return self


def read(path: Path) -> list[NamedModel]:
    """The models of a CSV file with the columns `model`, and if need be `name` and `tags` (separated by blanks).

    A folder is looked up beside the file if it is not found from here.

    :raises DataError: with file and line; all that is wrong is one error
    """
    header, lines = csv_files.read(path)
    if "model" not in header or not set(header) <= set(COLUMNS):
        raise DataError(f"needs the columns {', '.join(COLUMNS)}, the last two if wanted (it has {header}).", path, 1)
    errors = ErrorCollector()
    found = [errors.tried(_model, line, path, number) for number, line in lines]
    errors.tell()
    models = [model for model in found if model is not None]
    if not models:
        raise DataError("names no model.", path)
    return models


def _model(line: dict[str | None, str | None], path: Path, number: int) -> NamedModel:
    if None in line or None in line.values():
        raise DataError("has more or fewer cells than the header.", path, number)
    model, name, tags = ((line.get(column) or "").strip() for column in COLUMNS)
    if not model:
        raise DataError("names no model.", path, number)
    if "," in tags:
        raise DataError(f"tags are separated by blanks, and have no commas in them (got '{tags}').", path, number)
    beside = path.parent / model
    reference = str(beside) if not Path(model).exists() and beside.is_dir() else model
    return NamedModel(reference, name or None, tuple(dict.fromkeys(tags.split())))
