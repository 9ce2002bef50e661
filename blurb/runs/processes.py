"""Processes that blurb starts find modules where blurb does, and never in the folder where somebody happens to be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

SAFE = "PYTHONSAFEPATH"
"""Python's variable for -P: no module is imported from the working folder because it lies there."""


@contextmanager
def safe_path() -> Iterator[None]:
    """While it lasts, new Python processes do not import from the working folder; a file torch.py in it is not torch.

    Processes of multiprocessing get the path of this one afterwards, as they need what it has imported.
    """
    before = os.environ.get(SAFE)
    os.environ[SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SAFE, None)
        else:
            os.environ[SAFE] = before


@contextmanager
def at_root() -> Iterator[None]:
    """While it lasts, the working folder is that of the disk, where strangers cannot write.

    Ray puts the working folder on the path of its workers, before all others.
    """
    before = os.getcwd()
    os.chdir(os.path.abspath(os.sep))
    try:
        yield
    finally:
        os.chdir(before)
