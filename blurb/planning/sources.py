"""The models that were asked for, each read once, with what is wrong with any of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.checkpoints import references, scratch
from blurb.learners import is_named
from blurb.messages.errors import BlurbError, ErrorCollector, ModelError
from blurb.planning import quick_checks
from blurb.planning.request import source

if TYPE_CHECKING:
    from blurb.checkpoints import ModelSource
    from blurb.planning.named_models import NamedModel
    from blurb.planning.options import Model, TrainOptions


def of(
    options: TrainOptions, folder: Path, errors: ErrorCollector, fetch: bool
) -> Sequence[tuple[ModelSource, tuple[str, ...]]]:
    """The models that can be loaded, with their tags; the errors of the others are collected.

    :param folder: of the data, from which `scratch:` makes a vocabulary
    :param fetch: whether models of the Hub may be downloaded
    """
    wanted = [one for one in options.named_models if fetch or not _is_remote(one.model)]
    return [(each, one.tags) for one in wanted if (each := _source(options, one, folder, errors)) is not None]


def _is_remote(model: Model) -> bool:
    """Whether a reference is that of a model on the Hub."""
    if not isinstance(model, str | Path) or is_named(model) or str(model).startswith(scratch.PREFIX):
        return False
    try:
        return not isinstance(references.folder_or_id(str(model)), Path)
    except BlurbError:
        return False  # it is nothing, which is told


def _source(options: TrainOptions, named: NamedModel, folder: Path, found: ErrorCollector) -> ModelSource | None:
    model = named.model
    try:
        return source(
            model, named.name, options.revision, options.trust_remote_code, folder, options.casing, options.tokenizer
        )
    except BlurbError as error:
        parts = ErrorCollector()
        if isinstance(error, ModelError) and isinstance(model, str | Path) and Path(model).expanduser().is_dir():
            parts.tried(quick_checks.check_parts, Path(model).expanduser())
        for each in parts.errors or [error]:
            found.add(each)
    return None
