"""A pipe or a device in the place of a data file is named, and nobody waits for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blurb.messages.errors import DataError
from blurb.table_files import text_of


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "train.tsv"
    {"pipe": lambda: os.mkfifo(path), "device": lambda: path.symlink_to("/dev/zero")}[kind]()
    with pytest.raises(DataError, match="this is no ordinary file"):
        text_of(path)
