"""Checkpoints on the Hub: the files of a repository that a run reads, and fetching them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from blurb.checkpoints.reading import reason
from blurb.messages.errors import ModelError

FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*.codes")
PICKLED = "*.bin"
"""Fetched only where there is nothing else, and read with `weights_only`."""
CODE = "*.py"


@dataclass(frozen=True)
class Listing:
    """What `fetch` gets of a repository.

    :param revision: hash of the commit
    :param sizes: bytes of each file
    """

    revision: str
    sizes: Mapping[str, int]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self.sizes.values())


def listing(repository: str, revision: str | None, remote_code: bool) -> Listing:
    """Asks the Hub what `fetch` would get, and for the commit that a branch or tag stands for.

    :raises ModelError: says why the Hub does not answer
    """
    from huggingface_hub import HfApi

    _limit_silence()
    with _problems(repository, f"The Hub does not list the files of {repository}"):
        info = HfApi().model_info(repository, revision=revision, files_metadata=True)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    safe = any("/" not in name and name.endswith(".safetensors") for name in sizes)
    patterns = _patterns(remote_code, pickled=not safe)  # matched as huggingface_hub does
    wanted = {name: size for name, size in sizes.items() if any(fnmatch(name, pattern) for pattern in patterns)}
    return Listing(str(info.sha), wanted)


def revisions(repository: str) -> list[str]:
    """The branches and tags of a repository.

    :raises ModelError: says why the Hub does not answer
    """
    from huggingface_hub import HfApi

    _limit_silence()
    with _problems(repository, f"The Hub does not list the revisions of {repository}"):
        refs = HfApi().list_repo_refs(repository)
    return [str(ref.name) for ref in (*refs.branches, *refs.tags)]


def fetch(repository: str, revision: str | None, remote_code: bool, to: Path | None = None) -> Path:
    """Gets the files that a run reads: into the cache of the Hub, whose folder is named by the commit, or into `to`.

    :raises ModelError: says what the Hub, the network or the disk came up with
    """
    from huggingface_hub import snapshot_download

    _limit_silence()

    def get(pickled: bool) -> Path:
        patterns = _patterns(remote_code, pickled)
        return Path(snapshot_download(repository, revision=revision, allow_patterns=patterns, local_dir=to))

    tried = f"Downloading {repository} failed"
    if to is None:
        tried = f"{repository} is neither a local folder nor in the local Hub cache, and downloading it failed"
    with _problems(repository, tried):
        folder = get(pickled=False)
        if not any(folder.glob("*.safetensors")):  # older checkpoints have pickled weights only
            folder = get(pickled=True)
    return folder


def _limit_silence() -> None:
    """Requests that huggingface_hub would wait for without end, those for lists of files, end as those for headers do.

    After `HF_HUB_ETAG_TIMEOUT` seconds without a byte, 10 unless that variable says otherwise.
    """
    from huggingface_hub import get_session

    client = get_session()
    hooks = client.event_hooks
    if _limited not in hooks["request"]:
        client.event_hooks = {**hooks, "request": [*hooks["request"], _limited]}


def _limited(request: Any) -> None:
    from huggingface_hub import constants

    limits = request.extensions.get("timeout", {})
    request.extensions["timeout"] = {
        part: constants.HF_HUB_ETAG_TIMEOUT if seconds is None else seconds for part, seconds in limits.items()
    }


def _patterns(remote_code: bool, pickled: bool) -> list[str]:
    return [*FILES, *([CODE] if remote_code else []), *([PICKLED] if pickled else [])]


@contextmanager
def _problems(repository: str, tried: str) -> Iterator[None]:
    """Turns whatever the network, the Hub and the disk come up with into a ModelError.

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
                why = "its makers ask for consent; give it on its page, and log in with hf auth login"
            case RepositoryNotFoundError():
                why = "the Hub has no such model, or a private one; log in with hf auth login if it is yours"
            case RevisionNotFoundError():
                why = "it has no such revision"
            case OfflineModeIsEnabled():
                why = "HF_HUB_OFFLINE is set; unset it"
            case OSError(strerror=str(problem)):  # a full disk, a folder that cannot be written
                why = problem
            case _:
                why = f"{_innermost(error)}; check the connection to the Hub"
        raise ModelError(f"{why}.", where=tried) from error


def _innermost(error: BaseException) -> str:
    """What the system says of a failed connection, without the types and numbers of the libraries between."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        if isinstance(each, OSError) and each.strerror:
            return str(each.strerror)
        each = each.__cause__ or each.__context__
    return re.sub(r"^(Got: )?(\w*(Error|Exception): )?(\[Errno -?\d+\] )?", "", str(reason(error)))
