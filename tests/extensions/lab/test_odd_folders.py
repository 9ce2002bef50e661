"""Folders of other names among the checkpoints of a pretraining, and disks that are full while one is written."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from safetensors import SafetensorError

from blurb.extensions.lab.pretraining import trainer
from blurb.extensions.lab.pretraining.pretrain import full_disks_told
from blurb.system.files import seal_folder

ODD = (
    "checkpoint-old",
    "checkpoint-500 (copy)",
    "checkpoint-500.bak",
    "checkpoint--3",
    "checkpoint-0",
    "checkpoint-",
)


def test_folders_of_other_names_are_left_alone(tmp_path: Path) -> None:
    for name in ("checkpoint-2", "checkpoint-10", *ODD):
        (tmp_path / name).mkdir()
        for moment in trainer.MOMENTS:
            (tmp_path / name / moment).write_text("x")
        seal_folder(tmp_path / name)
    (tmp_path / "checkpoint-99").write_text("a file")
    assert trainer.last_complete(tmp_path) == tmp_path / "checkpoint-10"
    assert sorted(trainer._saved(tmp_path)) == [2, 10]
    assert all((tmp_path / name).is_dir() for name in ODD)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 302400 vs 302288"),
        SafetensorError(
            "Error while serializing: I/O error: No space left on device (os error 28)"
        ),
    ],
)
def test_a_full_disk_is_told_by_its_name(error: Exception, tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match="No space left on device") as caught,
        full_disks_told(tmp_path),
    ):
        raise error
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path))
    with pytest.raises(RuntimeError, match="shapes"), full_disks_told(tmp_path):
        raise RuntimeError("shapes cannot be multiplied")
