"""Resolves a user's reference to a checkpoint: a folder, a preset or a Hub id."""

from __future__ import annotations

import csv
import glob
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from blurb.checkpoints import hub
from blurb.checkpoints.reading import reason_of
from blurb.messages import ModelError, first_of, system_message
from blurb.names import by_number, resolve_name


def _read_toml_here(name: str) -> dict[str, Any]:
    """A TOML file of this folder."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


OWNERS: Mapping[str, Sequence[str]] = _read_toml_here("owners.toml")
"""Organisation -> names of its models that the tutorials of transformers use without the organisation."""


def load_presets() -> dict[str, str]:
    """The presets: short names of checkpoints on the Hub."""
    return {name: preset["id"] for name, preset in preset_facts().items()}


@cache
def preset_facts() -> Mapping[str, Mapping[str, str]]:
    """The entries of `presets.toml`, by short name."""
    return _read_toml_here("presets.toml")


@cache
def published_terms() -> Mapping[str, Mapping[str, str]]:
    """The terms of Table 1 of Gu et al.: term -> vocabulary -> its pieces in the paper, joined by hyphens."""
    text = Path(__file__).with_name("terms.csv").read_text(encoding="utf-8")
    return {line.pop("term"): line for line in csv.DictReader(text.splitlines())}


def default_name(reference: str) -> str:
    """Last part of a path or Hub id, as typed; of a link its own name, not its target's."""
    if Path(reference).is_dir():
        return Path(os.path.abspath(reference)).name
    return reference.partition("@")[0].rstrip("/").split("/")[-1]


class CheckpointPlace(NamedTuple):
    """Where a checkpoint lies.

    :param revision: hash of the commit, for a checkpoint from the Hub
    :param casing: stated by the presets, or ""
    """

    folder: Path
    revision: str | None = None
    casing: str = ""


def locate_checkpoint(
    reference: str, revision: str | None, remote_code: bool = False
) -> CheckpointPlace:
    """The place of a checkpoint on disk, or (by huggingface_hub, with its cache) from the Hub.

    :raises ModelError: if nothing is found; suggests what the reference could mean
    """
    place = folder_or_id(reference)
    if isinstance(place, Path):
        record = hub.read(place)
        return (
            CheckpointPlace(place, record.revision, _casing_of_preset(record.repository))
            if record
            else CheckpointPlace(place)
        )
    repository, at = place
    folder = hub.fetch(repository, revision or at or None, remote_code)
    return CheckpointPlace(folder, folder.name, _casing_of_preset(repository))


def _casing_of_preset(repository: str) -> str:
    """The casing that the presets state for a checkpoint of the Hub."""
    by_id = {preset["id"].lower(): preset.get("casing", "") for preset in preset_facts().values()}
    return by_id.get(repository.lower(), "")


def folder_or_id(reference: str) -> Path | tuple[str, str]:
    """The folder that a reference names, or its Hub id and revision ("" for the default).

    :raises ModelError: if it is neither; suggests what it could mean
    """
    try:
        path = Path(reference).expanduser()
        if path.is_dir():
            return path.resolve()
        _refuse_what_is_no_name(reference, path)
    except (OSError, RuntimeError) as error:
        # A name of 300 letters, or the home of a user who does not exist.
        why = (
            system_message(error)
            if isinstance(error, OSError)
            else f"{_without_secrets(reference)}: {reason_of(error)}."
        )
        raise ModelError(f"Cannot access the model folder {why}") from None
    if path.is_symlink():
        raise ModelError(f"{reference} is a link to {os.readlink(path)}, which is not there.")
    repository, at = _repository_of(reference)
    if at and Path(repository).is_dir():
        raise ModelError(
            f"{reference} may be the folder {repository}, or {repository} of the Hub at the revision {at}",
            fix=f"write ./{repository} for the folder; for the Hub rename the folder, or run this elsewhere.",
        )
    if "/" not in repository:
        raise ModelError(
            f"There is no model called '{reference}'.",
            fix="Write ORG/NAME for a model of the Hub, ./NAME for a folder, or a name that `blurb models` lists.",
        )
    if path.is_absolute() or reference.startswith((".", "~")) or repository.count("/") != 1:
        raise ModelError(f"The model folder {reference} does not exist.")
    return repository, at


def _refuse_what_is_no_name(reference: str, path: Path) -> None:
    """Raises a ModelError for a URL, a file or a pattern."""
    if "://" in reference or _without_secrets(reference) != reference:
        raise ModelError(
            f"MODEL must be a folder or a Hub id such as org/model, not a URL (got {_without_secrets(reference)}); "
            "if it is not on the Hub, download it first."
        )
    if path.is_file():
        raise ModelError(
            f"{reference} is a file", fix=f"use the folder of the checkpoint, {path.parent}."
        )
    if glob.has_magic(reference):
        fitting = sorted(
            (match for match in glob.glob(str(path)) if Path(match).is_dir()), key=by_number
        )
        found = f"{first_of(fitting, 10)}: remove the quotes" if fitting else "none"
        raise ModelError(
            f"There is no model folder '{reference}'; as a pattern it matches {found}."
        )


def _without_secrets(reference: str) -> str:
    """A reference without the user, password and query that a URL may have."""
    without = re.sub(r"[?#].*", "", reference) if "://" in reference else reference
    return re.sub(r"^(.*?://).*@|^[^/@]*:.*@", lambda match: match[1] or "", without)


def _repository_of(reference: str) -> tuple[str, str]:
    """The Hub id of a preset or an id, and its revision, if it names one."""
    known = load_presets()
    repository, _, revision = known.get(resolve_name(reference, known), reference).partition("@")
    for owner, names in OWNERS.items():
        if (name := resolve_name(repository, names)) in names:
            return f"{owner}/{name}", revision
    return repository, revision
