"""A bundle with all that a measurement on another machine needs: code of a commit, wheels, data and encoder."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.device import code, encoders, wheels
from blurb.messages.errors import BlurbError, DataError

CODE = ("blurb", "benchmarks", "tests", "pyproject.toml", "constraints.txt", "README.md", "LICENSE")
MIB = 2**20
LIMIT = 64
"""Maximum size in MiB of what travels at a time."""
RUN = Path(__file__).with_name("run.sh")
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Asked:
    """What is to be packed.

    :param out: the bundle, a file that ends in `.tar.gz`
    :param data: folder in BLURB's layout; None only for a rehearsal
    :param wheels: folder of wheels that are at hand; None asks pip
    :param python: version of Python on the other machine
    :param dirty: changes of tracked files travel uncommitted, too, and results of them cannot be merged
    :param split: a bundle above the limit becomes several files
    :param small: a rehearsal: synthetic data, a tiny encoder and no wheels
    """

    out: Path
    data: Path | None = None
    wheels: Path | None = None
    python: str = "3.12"
    dirty: bool = False
    split: bool = False
    small: bool = False
    limit: float = LIMIT
    root: Path = code.ROOT


def pack(asked: Asked) -> list[Path]:
    """Writes the bundle; returns its files, several if it is split.

    :raises BlurbError: if the tree is dirty, something is missing, or the bundle is larger than the limit
    """
    if not asked.out.name.endswith(".tar.gz"):
        raise BlurbError("the name of a bundle ends in .tar.gz", where=asked.out)
    if not asked.small and (asked.data is None or not asked.data.is_dir()):
        raise DataError("no folder with BLURB's files", asked.data, fix="give it with --data.")
    dirty = code.is_dirty(asked.root)
    if dirty and not asked.dirty:
        raise BlurbError(
            "There are changes that are not committed, so no commit would name the code.",
            fix="Commit them, or add --dirty: its results are for trying only and cannot be merged.",
        )
    with tempfile.TemporaryDirectory(prefix="blurb-bundle-") as name:
        folder = Path(name)
        _fill(folder, asked, dirty)
        whole = Path(name) / "bundle.tar.gz"
        sizes = _write(folder, whole)
        if whole.stat().st_size > asked.limit * MIB and not asked.split:
            parts = ", ".join(f"{part} {size / MIB:.1f}" for part, size in sizes.items())
            raise BlurbError(
                f"The bundle has {whole.stat().st_size / MIB:.1f} MiB and may have {asked.limit:g} "
                f"(before compression: {parts}).",
                fix="Add --parts to split it.",
            )
        return _place(whole, asked)


def _fill(folder: Path, asked: Asked, dirty: bool) -> None:
    """The content of a bundle, manifest last."""
    # `git stash create` writes a commit of the tracked files as they are, and changes nothing.
    commit = (code.git(asked.root, "stash", "create") if dirty else "") or code.git(
        asked.root, "rev-parse", "HEAD"
    )
    archive = folder / "code.tar"
    code.git(asked.root, "archive", "--output", str(archive), commit, "--", *CODE)
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "code", filter="data")
    archive.unlink()
    (folder / "wheels").mkdir()
    if asked.small:
        from blurb.corpora import demo

        encoders.tiny(folder / "model", demo.prepare())
    else:
        assert asked.data is not None
        _wheels(folder / "wheels", asked)
        encoders.minilm(folder / "model")
        with tarfile.open(folder / "data.tar", "w") as data:
            _add(data, asked.data, "data")
    shutil.copyfile(RUN, folder / "run.sh")
    (folder / "run.sh").chmod(0o755)
    manifest = {
        "commit": commit,
        "dirty": dirty,
        "small": asked.small,
        "trees": code.trees(asked.root, commit),
        "digest": code.digest(folder / "code"),
        "versions": _versions(asked.root / "constraints.txt"),
        "wheels": sorted(wheel.name for wheel in (folder / "wheels").iterdir()),
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _wheels(folder: Path, asked: Asked) -> None:
    if asked.wheels is None:
        wheels.collect(folder, asked.python, asked.root / "constraints.txt")
        return
    for wheel in sorted(asked.wheels.glob("*.whl")):
        shutil.copyfile(wheel, folder / wheel.name)


def _versions(constraints: Path) -> dict[str, str]:
    """The versions that the tests pass with, of the libraries that decide figures."""
    pinned = dict(
        line.split("==")
        for line in constraints.read_text(encoding="utf-8").splitlines()
        if "==" in line
    )
    return {
        name: pinned[name]
        for name in ("torch", "transformers", "tokenizers", "accelerate", "numpy")
        if name in pinned
    }


def _write(folder: Path, whole: Path) -> dict[str, int]:
    """Writes the content of a folder as one file; returns the bytes of each entry before compression."""
    entries = [path for path in sorted(folder.iterdir()) if path != whole]
    with (
        whole.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as bundle,
    ):
        for path in entries:
            _add(bundle, path, f"blurb-device/{path.name}")
    return {
        path.name: sum(one.stat().st_size for one in [path, *path.rglob("*")] if one.is_file())
        for path in entries
    }


def _add(bundle: tarfile.TarFile, path: Path, name: str) -> None:
    """Adds a file or folder; nothing says who packed it, or when."""
    if path.is_dir():
        for one in sorted(path.iterdir()):
            if one.name != "__pycache__":
                _add(bundle, one, f"{name}/{one.name}")
        return
    info = tarfile.TarInfo(name)
    info.size, info.mode = path.stat().st_size, 0o755 if path.suffix == ".sh" else 0o644
    with path.open("rb") as file:
        bundle.addfile(info, file)


def _place(whole: Path, asked: Asked) -> list[Path]:
    """Moves the bundle to its place, cut into files below the limit if it must be.

    Those of an earlier bundle go: `cat NAME*` would put the two together.
    """
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    for old in (asked.out, *asked.out.parent.glob(f"{asked.out.name}.[0-9][0-9]")):
        old.unlink(missing_ok=True)
    size = int(asked.limit * MIB)
    if whole.stat().st_size <= size:
        shutil.move(whole, asked.out)
        return [asked.out]
    written = []
    with whole.open("rb") as file:
        for number, piece in enumerate(iter(lambda: file.read(size), b"")):
            path = asked.out.with_name(f"{asked.out.name}.{number:02d}")
            path.write_bytes(piece)
            written.append(path)
    return written
