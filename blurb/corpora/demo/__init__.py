"""The demo suite: thirteen synthetic datasets in BLURB's layout, for tests and for trying `blurb` without any corpus.

Everything is invented here: names from syllables, sentences from the templates of these modules. No text comes from a
corpus, so the suite carries no licence but ours. Each module says what makes its task learnable, so that a tiny
encoder trained from scratch beats the trivial score, and what keeps it from being trivial.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from blurb.cache import home
from blurb.corpora.demo import document, lexicon, ner, pico, qa, relation, similarity


def files(seed: int = 0) -> dict[str, str]:
    """Relative path -> content of every file of the suite; the same on every platform for the same seed.

    The thirteen datasets as BLURB lays them out, and below `originals/` ChemProt and DDI with the names that BLURB
    masks, so that the folder serves as `raw`, too.
    """
    words = lexicon.build(seed)
    modules = (ner, pico, relation, similarity, document, qa)
    return {path: content for module in modules for path, content in module.files(seed, words)}


def write(folder: Path, seed: int = 0) -> None:
    """Write the suite into `folder` (made if need be), as BLURB's data_generation kit lays out the real one.

    UTF-8 with LF line ends. Files of the same names are overwritten, others left alone.
    """
    for path, content in files(seed).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode("utf-8"))  # bytes: text mode would write CRLF on Windows


def prepare(seed: int = 0) -> Path:
    """The suite in the cache folder, written if it is not there; its name follows from its content."""
    content = files(seed)
    digest = hashlib.sha256("".join(f"{path}\n{text}" for path, text in sorted(content.items())).encode()).hexdigest()
    folder = home() / "demo" / digest[:16]
    if not folder.is_dir():
        aside = folder.with_name(f".{folder.name}.{os.getpid()}")
        write(aside, seed)
        try:
            aside.rename(folder)
        except OSError:  # another process was quicker
            shutil.rmtree(aside)
    return folder
