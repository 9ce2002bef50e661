"""Which sweeps may run here: those that this user planned, and those that a person allowed by their hash.

A sweep names code (plug-ins, the Python files of a checkpoint) and places (checkpoints, data, task files). Whoever can
write to the store can write a sweep, so that one from elsewhere is asked for before anything that it names is opened.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from blurb.checkpoints.source import CHECKPOINT
from blurb.messages.errors import BlurbError
from blurb.messages.spelling import opt
from blurb.system import cache

FOLDER = "allowed"
"""Folder beside the caches with an empty file for each hash; no cache, so that `blurb cache clear` leaves it."""
DIGITS = 32


class NotAllowed(BlurbError):
    """A sweep that this user neither planned nor allowed."""


def hash_of(content: Mapping[str, Any]) -> str:
    """The hash of all code and places that a sweep names; trials that are dropped from it do not change it."""
    text = json.dumps({name: value for name, value in content.items() if name != "jobs"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def remember(digest: str) -> None:
    """Notes for this user that a sweep may run; without a place to note it, workers ask."""
    try:
        (_folder()).mkdir(parents=True, exist_ok=True)
        (_folder() / digest).touch()
    except OSError:
        return


def check(folder: Path, content: Mapping[str, Any], given: Collection[str] = ()) -> None:
    """Raises NotAllowed for a sweep of somebody else that names code or places, unless its hash is given.

    :param given: hashes that a person typed; remembered if it is that of the sweep
    """
    digest = hash_of(content)
    if digest in given:
        remember(digest)
    elif not _is_remembered(digest) and (named := list(_named(content, folder.parent.parent))):
        raise NotAllowed(
            f"The sweep {folder} was planned by another user, or on a machine with another home. It names "
            f"{'; '.join(named)}. To run it, and not to be asked again: {opt('allow-code', digest)}"
        )


def _folder() -> Path:
    return cache.home() / FOLDER


def _is_remembered(digest: str) -> bool:
    """Whether this user noted it: in a folder that several users share, each has files of its own."""
    try:
        return (_folder() / digest).stat().st_uid == os.getuid()
    except (OSError, AttributeError):  # no such file; a system without user ids
        return (_folder() / digest).is_file() and not hasattr(os, "getuid")


def _named(content: Mapping[str, Any], store: Path) -> Iterator[str]:
    """What a sweep names: code, and places outside of its store."""
    for kind, found in content["plugins"].items():
        for name, path in found.items():
            yield f"code of a {kind}: {_shown(path or name)}"
    root = Path(os.path.realpath(store))
    for source in content["source"]:
        if source.get("remote_code"):
            yield f"the Python files of a checkpoint: {_shown(source['location'])}"
        elif source["kind"] == CHECKPOINT and _leads_out(source["location"], root):
            yield f"a checkpoint: {_shown(source['location'])}"
    for data in content["data"]:
        if data["task"].endswith(".toml"):
            yield f"a task file: {_shown(data['task'])}"
        if _leads_out(data["folder"], root):
            yield f"data: {_shown(data['folder'])}"


def _leads_out(place: str, root: Path) -> bool:
    """Whether a folder is outside of a store, or a link in it may lead there: one to a folder may meet others."""
    folder = Path(os.path.realpath(place))
    links = (path for path in folder.rglob("*") if path.is_symlink())
    return not folder.is_relative_to(root) or any(
        path.is_dir() or not Path(os.path.realpath(path)).is_relative_to(root) for path in links
    )


def _shown(name: str) -> str:
    return shlex.quote(str(name))
