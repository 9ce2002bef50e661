"""What the commands print and write from the golden stores, as text. Nothing is trained.

    python -m tests.golden.render            # writes rendered/ anew, whole
    python -m tests.golden.render check      # only the cases whose name begins so

`test_rendered.py` compares letter by letter. Whoever changes on purpose what users see runs this and reads the diff of
`rendered/`: it is what is reviewed, and what a closing note lists.

A case is `rendered/NAME.txt`, the commands with what they printed and their exit codes, and `rendered/NAME/`, the files
that they wrote. Only what must vary is replaced (`normal`); files of more than `MOST` characters are cut, with their
hash; archives are unpacked, pictures are told as data (`drawn.py`), pages as words and a hash of their markup, and
long JSON with as much on a line as fits (`_compact.py`).
"""

import contextlib
import hashlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.golden import _compact, drawn, encoder
from tests.golden.cases import CASES, INPUTS, Case
from tests.golden.interface import REFERENCE, interface, reference

HERE = Path(__file__).parent
RENDERED = HERE / "rendered"
INTERFACE = RENDERED / "interface.txt"
MOST = 50_000
SHOWN = 2_000
"""Characters that remain of a file of more than `MOST`."""
ENVIRONMENT: Mapping[str, str | None] = {
    # A terminal that knows no colours, of this size: without LINES rich takes a dumb one for 80 characters wide.
    "COLUMNS": "120",
    "LINES": "50",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "FORCE_COLOR": None,
    "TTY_COMPATIBLE": None,
    # As on nobody's CI.
    "CI": None,
    "GITHUB_ACTIONS": None,
    "GITHUB_STEP_SUMMARY": None,
}


def prepare(folder: Path) -> None:
    """All that the cases read, as it was written by 53549ab and 775c52d."""
    for name in ("store", "data"):
        shutil.copytree(HERE / name, folder / name)
    (folder / "before").mkdir()
    for name in ("results.csv", "leaderboard.csv", "external.csv"):
        shutil.copy(HERE / name, folder / "before" / name)
    with zipfile.ZipFile(HERE / "today.zip") as packed:
        packed.extractall(folder)
    encoder.build(folder / "golden-encoder")
    assert {path.name for path in folder.iterdir()} == set(INPUTS)


def render(case: Case, inputs: Path, folder: Path) -> dict[str, str]:
    """The texts of a case by path below `rendered/`.

    :param inputs: what `prepare` made; it stays as it is
    :param folder: where the commands run; it is made
    """
    folder.mkdir(parents=True)
    for name in INPUTS:
        whole = name != "today" or not case.models
        for part in (
            (name,) if whole else [f"{name}/{inside}" for inside in ("store.json", *case.models)]
        ):
            (folder / part).parent.mkdir(exist_ok=True)
            if name in case.changes and part.endswith(".json"):
                shutil.copy2(inputs / part, folder / part)
            elif name in case.changes:
                shutil.copytree(inputs / part, folder / part)
            else:
                (folder / part).symlink_to(inputs / part)
    for path, text in case.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    from blurb.leaderboard import intervals

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        if case.prepare is not None:
            case.prepare(folder)
        before = _state(folder)
        drawn.instead_of_pixels(patch)
        patch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
        patch.setattr(
            intervals, "UNSEEN", float("inf")
        )  # how long it takes is no part of what is said
        told = "".join(_run(command, case, patch) for command in case.commands)

    def steady(written: str) -> str:
        for pattern, text in case.varying.items():
            written = re.sub(pattern, text, written)
        return normal(written, folder, inputs)

    found = {f"{case.name}.txt": _compact.transcript(steady(told))}
    for file, written in _state(folder).items():
        path = file.relative_to(folder).as_posix()
        if before.get(file) != written:
            told_as = f"{path}.json" if path.endswith(drawn.ENDINGS) else path
            text = steady(_text(path, file.read_bytes(), case.whole))
            found[f"{case.name}/{told_as}"] = (
                _compact.page(text) if path.endswith(".html") else text
            )
    return found


def _state(folder: Path) -> dict[Path, tuple[int, ...]]:
    """All files below a folder but those of the inputs that are links, and when they were written."""
    found = {}
    for top in sorted(folder.iterdir()):
        for path in [] if top.is_symlink() else [top] if top.is_file() else sorted(top.rglob("*")):
            stat = path.stat()
            if path.is_file():
                found[path] = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
    return found


def _run(command: str, case: Case, patch: pytest.MonkeyPatch) -> str:
    """One command as typed, with what it printed and its exit code."""
    from click.testing import CliRunner

    from blurb import tasks
    from blurb.cli import cli
    from blurb.messages.errors import BlurbError

    runner = CliRunner(env={**ENVIRONMENT, **case.environment})
    with runner.isolation():
        stream = type(sys.stdout)
    with patch.context() as mine:
        mine.setattr(
            tasks, "_files", {}
        )  # task files that another command of this process was asked for
        if case.terminal:
            mine.setattr(stream, "isatty", lambda self: True)
        result = runner.invoke(cli, shlex.split(command), input=case.typed, prog_name="blurb")
    code, stderr = result.exit_code, result.stderr
    if isinstance(result.exception, BlurbError | OSError):  # as `blurb.cli._exit.run` ends
        code, stderr = 2, f"{stderr}Error: {result.exception}\n"
    elif result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if "Traceback" in stderr:  # what nobody foresaw is nothing to hold on to
        raise AssertionError(stderr)
    parts = [f"$ blurb {command}\n", result.stdout]
    if stderr:
        parts += ["[stderr]\n", stderr]
    return (
        "".join(part if part.endswith("\n") or not part else f"{part}\n" for part in parts)
        + f"[exit {code}]\n"
    )


def _text(path: str, content: bytes, whole: bool) -> str:
    """A file as text that can be read in a diff."""
    if path.endswith(".zip"):  # the compression is zlib's business
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            lines = [
                f"{_sha256(packed.read(info))} {info.date_time} {info.filename}"
                for info in packed.infolist()
            ]
        return "\n".join(lines) + "\n"
    if path.endswith(".parquet"):
        raise AssertionError(
            f"{path}: a trial was trained; what is in the golden stores is to stand."
        )
    text = content.decode("utf-8")
    if whole or len(text) <= MOST or path.endswith(".html"):
        return text
    return f"{text[:SHOWN]}\n[{len(text)} characters, sha256 {_sha256(content)}]\n"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def normal(text: str, folder: Path, inputs: Path) -> str:
    """Without what differs from machine to machine or from day to day, and says nothing."""
    import blurb

    package = Path(blurb.__file__).parent
    places = {  # the inner ones first
        inputs: "INPUTS",
        folder: "WORK",
        package: "blurb",
        package.parent: "REPOSITORY",
        Path(os.environ["BLURB_HOME"]): "CACHE",
    }
    for place, name in places.items():
        for path in {str(place), str(place.resolve())}:
            text = text.replace(path, name)
    # Where a plug-in is declared moves with every line above it.
    text = re.sub(r"(blurb/[\w/]+\.py):\d+", r"\1:LINE", text)
    # Rows of a store are put together by the age of their files, which a copy does not keep.
    text = re.sub(
        r"(?:^Damaged: .*\n)+",
        lambda found: "".join(sorted(found[0].splitlines(keepends=True))),
        text,
        flags=re.M,
    )
    # The last digits of a sum hang on how wide the processor's vectors are.
    return re.sub(r"-?\d+\.\d{9,}(?:e[-+]?\d+)?", lambda found: f"{float(found[0]):.8g}", text)


def committed(case: Case) -> dict[str, str]:
    """What `rendered/` has of a case."""
    paths = [RENDERED / f"{case.name}.txt", *sorted((RENDERED / case.name).rglob("*"))]
    return {
        path.relative_to(RENDERED).as_posix(): path.read_bytes().decode("utf-8")
        for path in paths
        if path.is_file()
    }


def write(found: Mapping[str, str]) -> None:
    """Puts texts into `rendered/`."""
    for path, text in found.items():
        target = RENDERED / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())


@contextlib.contextmanager
def own_cache() -> Iterator[Path]:
    """A folder, with an empty cache in it and no network, as the tests have."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLURB_HOME", f"{folder}/cache")
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield Path(folder)


def main(names: Sequence[str]) -> None:
    """Writes the cases that are asked for, all without any; those that are gone are removed."""
    chosen = [case for case in CASES if not names or case.name.startswith(tuple(names))]
    with own_cache() as folder:
        (folder / "inputs").mkdir()
        prepare(folder / "inputs")
        found = {}
        for case in chosen:
            start = time.process_time()
            found[case] = render(case, folder / "inputs", folder / "cases" / case.name)
            print(f"{time.process_time() - start:6.2f} s  {case.name}", flush=True)
    if not names:
        shutil.rmtree(RENDERED, ignore_errors=True)
        write({INTERFACE.name: interface()})
        REFERENCE.write_text(reference(), encoding="utf-8")
    for case in chosen:
        shutil.rmtree(RENDERED / case.name, ignore_errors=True)
        write(found[case])


if __name__ == "__main__":
    main(sys.argv[1:])
