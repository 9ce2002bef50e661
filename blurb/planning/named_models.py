"""Many models at once: a table of checkpoints with the names of their rows and with tags."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from blurb.messages.errors import DataError, ErrorCollector
from blurb.table_files import FileLine, head_of, table_of


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
    errors, (header, _) = ErrorCollector(), head_of(path)
    if "model" not in header or not set(header) <= set(COLUMNS):
        raise DataError(f"needs the columns {', '.join(COLUMNS)}, the last two if wanted (it has {header}).", path, 1)
    named = [errors.tried(_model, at, line) for at, line in table_of(path, errors).rows]
    errors.tell()
    models = [model for model in named if model is not None]
    if not models:
        raise DataError("names no model.", path)
    return models


def _model(at: FileLine, line: dict[str, str]) -> NamedModel:
    model, name, tags = (line.get(column, "").strip() for column in COLUMNS)
    if not model:
        raise at.error("names no model.")
    if "," in tags:
        raise at.error(f"tags are separated by blanks, and have no commas in them (got '{tags}').")
    beside = at.path.parent / model
    reference = str(beside) if not Path(model).exists() and beside.is_dir() else model
    return NamedModel(reference, name or None, tuple(dict.fromkeys(tags.split())))
