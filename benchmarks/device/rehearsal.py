"""All of it on this machine: a bundle of a clone, its parts with tiny figures, and the merge into the clone's pages."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.device import code, merge, pack
from blurb.messages.errors import BlurbError


def rehearse(names: Sequence[str]) -> int:
    """Rehearses parts, all of them if none is named, and prints the seconds; 1 if one of them is not complete."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="blurb-rehearsal-") as name:
        folder = Path(name)
        lines = in_folder(clone(folder / "clone"), folder, names)
    print("\n".join(lines))
    busy = sum(
        resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(
        f"The rehearsal took {time.monotonic() - begun:.0f} s, {busy:.0f} s of them on a processor."
    )
    return int(any(line.startswith("  ") for line in lines))


def clone(folder: Path, root: Path = code.ROOT) -> Path:
    """A repository with the files of this one as they are now, committed; nothing else of this machine's git."""
    listed = code.git(
        root, "ls-files", "-co", "--exclude-standard", "--", *pack.CODE, "docs/performance.md"
    ).splitlines()
    for name in listed:
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, folder / name)
    code.git(folder, "init", "--quiet")
    commit(folder, "A rehearsal")
    return folder


def commit(root: Path, message: str) -> None:
    """Commits everything, by nobody."""
    code.git(root, "add", "--all", "--force")
    who = (
        "-c",
        "user.name=rehearsal",
        "-c",
        "user.email=rehearsal@localhost",
        "-c",
        "commit.gpgsign=false",
    )
    subprocess.run(
        ["git", "-C", str(root), *who, "commit", "--quiet", "-m", message],
        check=True,
        capture_output=True,
    )


def in_folder(root: Path, folder: Path, names: Sequence[str]) -> list[str]:
    """Packs a repository into a folder, runs parts there, and merges what they gave into the repository.

    :returns: the lines of the merge
    """
    out = folder / "bundle.tar.gz"
    pack.pack(pack.Asked(out, small=True, root=root))
    with tarfile.open(out) as bundle:
        bundle.extractall(folder, filter="data")
    run = ["blurb-device/run.sh", "--small", "--out", "back", *names]  # as it is typed
    ended = subprocess.run(
        run, check=False, cwd=folder, env={**os.environ, "PYTHON": sys.executable}
    )
    if ended.returncode not in (0, 1):  # 1: the merge says what is not complete
        raise BlurbError(f"run.sh ended with {ended.returncode}", fix="Read what it said above.")
    return merge.merge(folder / "back", root, rehearsal=True)
