"""The demo suite: thirteen synthetic datasets in BLURB's layout, for tests and for trying `blurb` without any corpus.

Everything in `demo.zip` is invented: names from syllables, sentences from templates. No text comes from a corpus, so
only our own licence applies. A tiny encoder trained from scratch beats the trivial score on each task and reaches 100
on none, as some labels are wrong on purpose. Below `originals/` ChemProt and DDI have the names that BLURB masks, so
that the folder can also be used as `raw`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from blurb.system.cache import cache_home
from blurb.system.files import new_folder

DIGEST = "c055d40025ff8c2e"
"""Hash of the content, which names its folder in the cache."""


@cache
def files() -> Mapping[str, str]:
    """Relative path -> content of every file of the suite."""
    with zipfile.ZipFile(Path(__file__).with_name("demo.zip")) as archive:
        return MappingProxyType({name: archive.read(name).decode() for name in archive.namelist()})


def write(folder: Path) -> None:
    """Writes the suite to `folder` in BLURB's layout; creates the folder if necessary.

    UTF-8 with LF line ends. Existing files of the same name are overwritten, other files are kept.
    """
    for path, content in files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode())  # bytes: text mode would write CRLF on Windows


def prepare() -> Path:
    """The suite's folder in the cache, after writing it if necessary."""
    folder = cache_home() / "demo" / DIGEST
    if not folder.is_dir():
        with new_folder(folder) as aside:
            write(aside)
    return folder
