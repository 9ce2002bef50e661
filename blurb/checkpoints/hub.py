"""Checkpoints on the Hub: fetches the files of a repository that a run reads, and reads where files came from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import huggingface_hub

from blurb.checkpoints.reading import read_json, reason_of
from blurb.messages import ModelError

FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*.codes")
PICKLED = "*.bin"
"""Fetched only where there is nothing else, and read with `weights_only`."""
CODE = "*.py"


def revisions(repository: str) -> list[str]:
    """The branches and tags of a repository.

    :raises ModelError: says why the Hub does not answer
    """
    _limit_silence()
    with _as_model_error(repository, f"The Hub does not list the revisions of {repository}"):
        refs = huggingface_hub.HfApi().list_repo_refs(repository)
    return [str(ref.name) for ref in (*refs.branches, *refs.tags)]


def fetch(repository: str, revision: str | None, remote_code: bool) -> Path:
    """Gets the files that a run reads into the cache of the Hub; the folder is named by the commit.

    :raises ModelError: with the error of the Hub, the network or the disk
    """
    _limit_silence()

    def get(pickled: bool) -> Path:
        patterns = [*FILES, *([CODE] if remote_code else []), *([PICKLED] if pickled else [])]
        return Path(
            huggingface_hub.snapshot_download(
                repository, revision=revision, allow_patterns=patterns
            )
        )

    tried = f"{repository} is neither a local folder nor in the local Hub cache, and downloading it failed"
    with _as_model_error(repository, tried):
        folder = get(pickled=False)
        if not any(folder.glob("*.safetensors")):  # older checkpoints have pickled weights only
            folder = get(pickled=True)
    return folder


def _limit_silence() -> None:
    """Limits the wait for requests without a time limit in huggingface_hub, those for lists of files.

    As requests for headers, they end after `HF_HUB_ETAG_TIMEOUT` seconds without a byte, by default 10.
    """
    client = huggingface_hub.get_session()
    hooks = client.event_hooks
    if _limit_request not in hooks["request"]:
        client.event_hooks = {**hooks, "request": [*hooks["request"], _limit_request]}


def _limit_request(request: Any) -> None:
    request.extensions["timeout"] = {
        part: huggingface_hub.constants.HF_HUB_ETAG_TIMEOUT if seconds is None else seconds
        for part, seconds in request.extensions.get("timeout", {}).items()
    }


@contextmanager
def _as_model_error(repository: str, tried: str) -> Iterator[None]:
    """Turns errors of the network, the Hub and the disk into a ModelError.

    :param tried: how the message begins
    """
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
    except HFValidationError:
        raise ModelError(
            f"'{repository}' is neither a local folder nor a Hub id (org/model in letters, digits and '-_.')."
        ) from None
    except Exception as error:
        match error:
            case GatedRepoError():  # a kind of RepositoryNotFoundError
                why = (
                    "its makers ask for consent; give it on its page, and log in with hf auth login"
                )
            case RepositoryNotFoundError():
                why = "the Hub has no such model, or a private one; log in with hf auth login if it is yours"
            case RevisionNotFoundError():
                why = "it has no such revision"
            case OfflineModeIsEnabled():
                why = f"HF_HUB_OFFLINE is set; unset it, or fetch {repository} with hf download first (docs/models.md)"
            case OSError(strerror=str(problem)):  # a full disk, a folder that cannot be written
                why = problem
            case _:
                why = f"{_innermost_message(error)}; check the connection to the Hub"
        raise ModelError(f"{why}.", where=tried) from error


def _innermost_message(error: BaseException) -> str:
    """The system's message about a failed connection, without the types and numbers of the libraries between."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        if isinstance(each, OSError) and each.strerror:
            return str(each.strerror)
        each = each.__cause__ or each.__context__
    return re.sub(
        r"^(Got: )?(\w*(Error|Exception): )?(\[Errno -?\d+\] )?", "", str(reason_of(error))
    )


RECORD = "blurb-download.json"


@dataclass(frozen=True)
class DownloadOrigin:
    """Where the files of a folder are from.

    :param revision: hash of the commit
    :param asked: the branch, tag or commit that was asked for; "" for the default
    :param remote_code: whether the checkpoint's own code was fetched
    :param sizes: bytes of each file
    """

    repository: str
    revision: str
    asked: str
    remote_code: bool
    sizes: Mapping[str, int]


def repository_of(folder: Path) -> str:
    """The Hub id of a folder downloaded by `blurb` or into the Hub's own cache; "" for other folders."""
    if record := read(folder):
        return record.repository
    cached = folder.parent.parent.name if folder.parent.name == "snapshots" else ""
    return (
        cached.removeprefix("models--").replace("--", "/") if cached.startswith("models--") else ""
    )


def read(folder: Path) -> DownloadOrigin | None:
    """The record of a folder; None if it is no download.

    :raises ModelError: if the record is invalid
    """
    if not (folder / RECORD).is_file():
        return None
    content = read_json(folder, RECORD)
    if content.keys() != set(DownloadOrigin.__annotations__) or not all(
        isinstance(content[name], str) for name in ("repository", "revision", "asked")
    ):
        raise ModelError(
            f"{RECORD} is no record of a download", where=folder, fix="remove that file."
        )
    return DownloadOrigin(**content)
