"""Bundles: what is in them, what is refused, and that they name nobody. Oracle: tar and git themselves."""

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from benchmarks.device import code, encoders, pack, wheels
from blurb.messages.errors import BlurbError, DataError
from tests.benchmarks import repository


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def encoder(folder: Path, data: Path | None = None) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(bytes(range(256)) * 4)

    monkeypatch.setattr(encoders, "tiny", encoder)
    monkeypatch.setattr(encoders, "minilm", encoder)
    return repository.make(tmp_path / "repository")


@pytest.fixture
def asked(root: Path, tmp_path: Path) -> pack.Asked:
    return pack.Asked(tmp_path / "out" / "bundle.tar.gz", small=True, root=root)


def names(bundle: Path) -> set[str]:
    with tarfile.open(bundle) as packed:
        return set(packed.getnames())


def manifest(bundle: Path) -> dict[str, object]:
    with tarfile.open(bundle) as packed:
        return json.loads(packed.extractfile("blurb-device/manifest.json").read())


def test_a_bundle_has_the_code_of_the_commit_and_says_which(asked: pack.Asked, root: Path) -> None:
    (bundle,) = pack.pack(asked)
    there = names(bundle)
    assert {"blurb-device/run.sh", "blurb-device/model/model.safetensors"} <= there
    assert {
        f"blurb-device/code/{name}" for name in repository.FILES if not name.startswith("docs")
    } <= there
    head = code.git(root, "rev-parse", "HEAD")
    assert manifest(bundle) == {
        "commit": head,
        "dirty": False,
        "small": True,
        "trees": {
            name: code.git(root, "rev-parse", f"{head}:{name}") for name in ("blurb", "benchmarks")
        },
        "digest": code.digest(root),
        "versions": {"torch": "2.13.0", "numpy": "2.4.6"},
        "wheels": [],
    }


def test_it_has_wheels_and_data_of_the_user(asked: pack.Asked, tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "dill-0.4.1-py3-none-any.whl").write_bytes(b"wheel")
    (tmp_path / "BLURB" / "GAD").mkdir(parents=True)
    (tmp_path / "BLURB" / "GAD" / "train.tsv").write_text("1\ttext\n", encoding="utf-8")
    given = {
        "out": asked.out,
        "data": tmp_path / "BLURB",
        "wheels": tmp_path / "wheels",
        "root": asked.root,
    }
    (bundle,) = pack.pack(pack.Asked(**given))
    assert {"blurb-device/wheels/dill-0.4.1-py3-none-any.whl", "blurb-device/data.tar"} <= names(
        bundle
    )
    with (
        tarfile.open(bundle) as packed,
        tarfile.open(fileobj=packed.extractfile("blurb-device/data.tar")) as data,
    ):
        assert data.getnames() == ["data/GAD/train.tsv"]


def test_the_same_commit_gives_the_same_bytes_and_names_nobody(
    asked: pack.Asked, tmp_path: Path
) -> None:
    (one,) = pack.pack(asked)
    (other,) = pack.pack(pack.Asked(tmp_path / "again.tar.gz", small=True, root=asked.root))
    assert one.read_bytes() == other.read_bytes()
    with tarfile.open(one) as packed:
        assert {(each.uname, each.gname, each.uid, each.mtime) for each in packed} == {
            ("", "", 0, 0)
        }


@pytest.mark.parametrize("name", ["blurb/__init__.py", "blurb/new.py"])
def test_changes_without_a_commit_are_refused(asked: pack.Asked, root: Path, name: str) -> None:
    (root / name).write_text("changed = True\n", encoding="utf-8")
    with pytest.raises(
        BlurbError, match=r"no commit would name the code\. Commit them, or add --dirty"
    ):
        pack.pack(asked)


def test_with_dirty_they_travel_and_the_manifest_says_so(asked: pack.Asked, root: Path) -> None:
    (root / "blurb" / "__init__.py").write_text("changed = True\n", encoding="utf-8")
    (bundle,) = pack.pack(pack.Asked(asked.out, small=True, dirty=True, root=root))
    with tarfile.open(bundle) as packed:
        file = packed.extractfile("blurb-device/code/blurb/__init__.py")
        assert file.read() == b"changed = True\n"
    assert manifest(bundle)["dirty"] is True
    assert code.is_dirty(root)  # as it was


def test_a_bundle_that_is_too_large_says_what_takes_the_room(asked: pack.Asked, root: Path) -> None:
    with pytest.raises(
        BlurbError, match=r"and may have 0.0005 \(before compression: code .*, model .*Add --parts"
    ):
        pack.pack(pack.Asked(asked.out, small=True, limit=0.0005, root=root))
    assert not asked.out.exists()


def test_parts_together_are_the_bundle(asked: pack.Asked, root: Path, tmp_path: Path) -> None:
    (whole,) = pack.pack(asked)
    pieces = pack.pack(
        pack.Asked(tmp_path / "split.tar.gz", small=True, limit=0.0005, split=True, root=root)
    )
    assert len(pieces) > 1
    assert [piece.name for piece in pieces][:2] == ["split.tar.gz.00", "split.tar.gz.01"]
    assert all(piece.stat().st_size <= 0.0005 * 2**20 for piece in pieces)
    assert b"".join(piece.read_bytes() for piece in pieces) == whole.read_bytes()


def test_nothing_of_an_earlier_bundle_stays_beside(
    asked: pack.Asked, root: Path, tmp_path: Path
) -> None:
    """`cat NAME*` puts together what is there."""
    split = pack.Asked(asked.out, small=True, limit=0.0005, split=True, root=root)
    for last in (asked, split, asked):
        pieces = pack.pack(last)
        assert sorted(asked.out.parent.iterdir()) == pieces


def test_what_is_missing_is_said(asked: pack.Asked, root: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder with BLURB's files; give it with --data"):
        pack.pack(pack.Asked(asked.out, root=root))
    with pytest.raises(BlurbError, match=r"a bundle ends in \.tar\.gz"):
        pack.pack(pack.Asked(tmp_path / "bundle.zip", small=True, root=root))
    (tmp_path / "none").mkdir()
    with pytest.raises(BlurbError, match=r"git status failed: .* Run the command in a clone"):
        pack.pack(pack.Asked(asked.out, small=True, root=tmp_path / "none"))


def test_pip_is_asked_for_the_pinned_wheels_of_the_other_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []

    def pip(command: list[str], **more: object) -> subprocess.CompletedProcess[str]:
        called.append(command)
        return subprocess.CompletedProcess(
            command, len(called) - 1, "", "https://somewhere/simple/"
        )

    monkeypatch.setattr(subprocess, "run", pip)
    wheels.collect(tmp_path, "3.12", tmp_path / "constraints.txt")
    text = " ".join(called[0])
    assert f"-c {tmp_path / 'constraints.txt'}" in text
    assert "--python-version 3.12" in text
    assert "torch" not in text
    assert "transformers" not in text
    assert set(wheels.NAMES) <= set(called[0])
    with pytest.raises(
        BlurbError, match=r"pip could not get the wheels for Python 3\.12; try again"
    ) as caught:
        wheels.collect(tmp_path, "3.12", tmp_path / "constraints.txt")
    assert "somewhere" not in str(caught.value)


def test_minilm_is_halved_and_its_card_says_so(minilm: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    encoders.minilm(tmp_path / "half")
    whole, half = (
        load_file(folder / "model.safetensors") for folder in (minilm, tmp_path / "half")
    )
    assert whole.keys() == half.keys()
    floats = [name for name, one in whole.items() if one.dtype == torch.float32]
    assert floats
    for name in floats:
        assert half[name].dtype == torch.float16
        assert torch.allclose(half[name].float(), whole[name], rtol=1e-3, atol=1e-6)
    assert "16-bit" in (tmp_path / "half" / "README.md").read_text(encoding="utf-8")


def started(
    asked: pack.Asked, folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What run.sh of an unpacked bundle says and starts, with a Python that only prints what it is asked."""
    (folder / "bin").mkdir()
    for name, text in {
        "python": 'case "$*" in *importlib*) exit 1;; *"pip install"*) echo "wheel is not supported"; exit 1;; esac\n'
        'echo "$CUDA_VISIBLE_DEVICES $PYTHONPATH $*"',
        "nvidia-smi": 'echo "GPU 0: NVIDIA H100"; echo "GPU 1: NVIDIA H100"',
    }.items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / "bin" / name).chmod(0o755)
    with tarfile.open(pack.pack(asked)[0]) as bundle:
        bundle.extractall(folder, filter="data")
    return subprocess.run(
        [str(folder / "blurb-device" / "run.sh"), "quick"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "PYTHON": "python", **environment},
    )


@pytest.mark.parametrize(("visible", "used"), [({}, "0"), ({"CUDA_VISIBLE_DEVICES": "1,0"}, "1")])
def test_of_two_cards_one_is_used_and_that_is_told(
    asked: pack.Asked, tmp_path: Path, visible: dict[str, str], used: str
) -> None:
    """The recipe would divide its batches among the cards that it sees."""
    note, command = started(asked, tmp_path, **visible).stdout.splitlines()
    assert note == f"Note: of 2 cards only one is used (CUDA_VISIBLE_DEVICES={used})"
    assert command.startswith(f"{used} ")


def test_a_wheel_that_cannot_be_installed_is_told_and_tried_again(
    asked: pack.Asked, tmp_path: Path
) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "dill-0.4.1-cp399-none-any.whl").write_bytes(b"wheel")
    (tmp_path / "BLURB").mkdir()
    whole = {
        "out": asked.out,
        "root": asked.root,
        "data": tmp_path / "BLURB",
        "wheels": tmp_path / "wheels",
    }
    (tmp_path / "BLURB" / "x.tsv").touch()
    _, note, command = started(pack.Asked(**whole), tmp_path).stdout.splitlines()
    assert note == "Note: cannot install dill-0.4.1-cp399-none-any.whl: wheel is not supported"
    assert f"{tmp_path}/blurb-device/site.new -m benchmarks.device run" in command
    assert not (tmp_path / "blurb-device" / "site").exists()
