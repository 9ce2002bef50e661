"""Files of an original release, wherever they lie under a folder, unpacked or in a tar archive."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

from blurb.errors import DataError


def find(folder: Path, names: Iterable[str], what: str) -> Path:
    """The one file under `folder` that has one of these names; DataError if there is none."""
    names = list(names)
    found = sorted(path for name in names for path in folder.rglob(name))
    if not found:
        raise DataError(f"{what} is not under this folder: expected {' or '.join(names)}.", folder)
    return found[0]


def members(folder: Path, top: str, suffix: str, what: str) -> dict[str, bytes]:
    """All files below a folder called `top`, by their path from it, from disk or from the first `top*.tar.gz`."""
    for root in sorted(path for path in folder.rglob(top) if path.is_dir()):
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob(f"*{suffix}"))}
    archive = find(folder, [f"{top}.tar.gz", f"{top}.tgz"], what)
    found = {}
    try:
        # The archive is read as a stream: nothing is written, so no path in it can lead anywhere.
        with tarfile.open(fileobj=io.BytesIO(archive.read_bytes()), mode="r:*") as file:
            for member in file:
                content = file.extractfile(member)
                _, _, name = f"/{member.name}".partition(f"/{top}/")
                if content is not None and name.endswith(suffix):
                    found[name] = content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"the archive cannot be read: {error}.", archive) from error
    return found
