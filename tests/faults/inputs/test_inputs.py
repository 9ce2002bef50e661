"""No input makes a traceback, a hang or a large memory, runs what it names, or fails a gate for want of a figure."""

import contextlib
import shutil
from collections import Counter
from pathlib import Path

import pytest

from blurb.messages.errors import BlurbError
from tests.faults.child import Faults
from tests.faults.commands import Command
from tests.faults.inputs.mutations import mutate
from tests.faults.inputs.subjects import Subjects
from tests.faults.sweep import chances, record, rounds

SECONDS, MEGABYTES = 20, 4096
FAULTS = Faults(processor=SECONDS, imports_here=True, limit=2.0)
CODE = (
    "open({marker!r}, 'w').close()\n"
    "class Anything:\n"
    "    def __init__(self, *a, **k): pass\n"
    "    def __call__(self, *a, **k): return []\n"
    "    def __getattr__(self, name): return self\n"
    "T = Anything()\n"
)


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Subjects:
    return Subjects(tmp_path_factory.mktemp("subjects"))


def wrong(command: Command, arguments: list[str], marker: Path) -> str:
    """What must not be of a command that has met a changed file; empty if nothing."""
    try:
        code = command.ended(60)
    except AssertionError:
        return "it does not end"
    if marker.exists():
        return "it ran what a file named"
    if "Traceback" in command.text or "bug in blurb" in command.text:
        return "a traceback"
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if arguments[0] == "check" and code == 1 and "REGRESSION" not in command.text:
        return "a failed gate without a regression"
    if command.took[1] > MEGABYTES:
        return f"{command.took[1]} MB"
    return "\\x1b]0;" if "\x1b]0;" in command.text else ""


@pytest.mark.costly
def test_changed_files(subjects: Subjects, tmp_path: Path) -> None:
    """Every reader; a tenth of a second to ten seconds each."""
    rng, seen, faults = chances("inputs"), Counter[str](), []
    seconds = megabytes = 0.0
    for number in range(rounds(short=24, share=3)):
        kind = subjects.KINDS[number % len(subjects.KINDS)]
        folder = tmp_path / str(number)
        folder.mkdir()
        given = getattr(subjects, kind)(folder, rng)
        changed = mutate(given.file, rng)
        if given.sealed and given.file.is_file():  # nobody seals a pipe
            with contextlib.suppress(BlurbError, OSError):
                given.sealed()
        for place in {folder, given.file.parent} if given.file.parent.is_dir() else {folder}:
            (place / "evil.py").write_text(CODE.format(marker=str(tmp_path / "ran")))
        arguments = given.command(rng)
        command = Command(arguments, folder, FAULTS)
        if fault := wrong(command, arguments, tmp_path / "ran"):
            faults.append(
                f"{number} {kind} {given.file.relative_to(folder)} {changed}: {fault}: blurb {' '.join(arguments)}"
            )
            print(faults[-1], command.text[-1500:], sep="\n")
            (tmp_path / "ran").unlink(missing_ok=True)
        else:
            seconds, megabytes = max(seconds, command.took[0]), max(megabytes, command.took[1])
            shutil.rmtree(folder)
            command.said.unlink()
        seen[kind] += 1
    record(
        "changed inputs", **seen, faults=len(faults), most_seconds=seconds, most_megabytes=megabytes
    )
    assert not faults, "\n".join(faults)
