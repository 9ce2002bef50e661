"""A checkpoint of one's own to spoil."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import Builder


@pytest.fixture
def copy(checkpoint: Builder, tmp_path: Path) -> Path:
    return Path(shutil.copytree(checkpoint("bert_uncased"), tmp_path / "mine"))
