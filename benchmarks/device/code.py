"""Which code made a result: the commit, and git's hashes of the two folders that decide every figure."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blurb.messages.errors import BlurbError

ROOT = Path(__file__).parents[2]
FOLDERS = ("blurb", "benchmarks")


def git(root: Path, *arguments: str) -> str:
    """What git prints.

    :raises BlurbError: if git fails
    """
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["git said nothing"]
        raise BlurbError(
            f"git {arguments[0]} failed: {said[-1]}",
            fix="Run the command in a clone of the repository.",
        )
    return done.stdout.strip()


def is_dirty(root: Path) -> bool:
    """Whether tracked files have changes that are not committed, or new files are not tracked."""
    return bool(git(root, "status", "--porcelain"))


def trees(root: Path, commit: str) -> dict[str, str]:
    """Folder -> git's hash of its content in a commit."""
    return {folder: git(root, "rev-parse", f"{commit}:{folder}") for folder in FOLDERS}


def digest(code: Path) -> str:
    """A hash of the two folders as they lie in a bundle, without what Python compiles: whether someone changed them."""
    paths = [
        path for folder in FOLDERS for path in sorted((code / folder).rglob("*")) if path.is_file()
    ]
    whole = hashlib.sha256()
    for path in paths:
        if "__pycache__" not in path.parts:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            whole.update(f"{path.relative_to(code).as_posix()} {content}\n".encode())
    return whole.hexdigest()


def check(root: Path, manifest: Mapping[str, Any], where: Path) -> None:
    """Refuses results that the code of HEAD did not make.

    Results of an earlier commit count as long as the two folders are what they were: a commit that merges the results
    of one part must not invalidate the next part.

    :param where: file of the results, for the message
    :raises BlurbError: if the commit is unknown, no ancestor of HEAD, or has other code
    """
    commit, fix = (
        str(manifest.get("commit")),
        "Pack and run HEAD again, or check out that commit and merge there.",
    )
    short = commit[:8]
    try:
        head = git(root, "rev-parse", "HEAD")
        if commit == head:
            return
        git(root, "merge-base", "--is-ancestor", commit, "HEAD")
    except BlurbError as error:
        raise BlurbError(
            f"made by commit {short}, which is no ancestor of HEAD", where=where, fix=fix
        ) from error
    before, now = trees(root, commit), trees(root, head)
    if changed := [folder for folder in FOLDERS if before[folder] != now[folder]]:
        raise BlurbError(
            f"made by other code: {' and '.join(changed)} changed since commit {short}",
            where=where,
            fix=fix,
        )
