"""The demo suite: thirteen synthetic datasets in BLURB's layout, for tests and for trying `blurb` without any corpus.

Everything is invented: names from syllables, sentences from the templates of `words.toml`. No text comes from a
corpus, so only our own licence applies. Each module explains what makes its task learnable, so that a tiny encoder
trained from scratch beats the trivial score, and what makes it non-trivial.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from blurb.corpora.demo import document, lexicon, ner, pico, qa, relation, similarity
from blurb.system.cache import cache_home
from blurb.system.files import new_folder

DIGEST = "c055d40025ff8c2e"
"""Name of the folder of seed 0, which need not be made again to know it; a test does."""


@cache  # a second of the processor, and asked for at each command of a session: a few megabytes
def files(seed: int = 0) -> Mapping[str, str]:
    """Relative path -> content of every file of the suite; for one seed the same on every platform.

    The thirteen datasets in BLURB's layout, and below `originals/` ChemProt and DDI with the names that BLURB masks, so
    that the folder can also be used as `raw`.
    """
    words = lexicon.build(seed)
    modules = (ner, pico, relation, similarity, document, qa)
    return MappingProxyType(
        {path: content for module in modules for path, content in module.files(seed, words)}
    )


def write(folder: Path, seed: int = 0) -> None:
    """Writes the suite to `folder` in BLURB's layout; creates the folder if necessary.

    UTF-8 with LF line ends. Existing files of the same name are overwritten, other files are kept.
    """
    for path, content in files(seed).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode("utf-8"))  # bytes: text mode would write CRLF on Windows


def prepare(seed: int = 0) -> Path:
    """Returns the suite's folder in the cache, after writing it if necessary; its name is a hash of its content."""
    if seed == 0 and (known := cache_home() / "demo" / DIGEST).is_dir():
        return known
    content = files(seed)
    digest = hashlib.sha256(
        "".join(f"{path}\n{text}" for path, text in sorted(content.items())).encode()
    ).hexdigest()
    folder = cache_home() / "demo" / digest[:16]
    if not folder.is_dir():
        with new_folder(folder) as aside:
            write(aside, seed)
    return folder
