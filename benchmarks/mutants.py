"""Do the tests still notice faults? Each of `mutants.toml` is made in a copy of the project, and must be seen.

    python -m benchmarks.mutants [--only ROOM]

The checkout is never touched. Without a fault the named tests must pass in the copy, as otherwise it would be no fault
that they see. Exit code 1 if a fault survives, or if its text no longer stands exactly once in its file: then write the
test that is missing, or the fault for the code as it is now. Three minutes.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_name("mutants.toml")
COPIED = ("blurb", "tests", "docs")
SAID = "said.txt"
FORK = multiprocessing.get_context("fork")
LIBRARIES = (
    "torch",
    "transformers.models.bert.modeling_bert",
    "scipy.stats",
    "sklearn.metrics",
    "hypothesis",
    "seqeval",
)
"""Imported once, for all that is forked; nothing of `blurb`, which is the copy's."""


class Mutant(NamedTuple):
    """A fault: a text of one file below `blurb/` and what takes its place.

    :param tests: files of which one test must fail
    """

    fault: str
    file: str
    old: str
    new: str
    tests: Sequence[str]


def of_rooms(only: str | None = None) -> list[Mutant]:
    """The mutants of the list, of all rooms or of one."""
    rooms = tomllib.loads(LIST.read_text(encoding="utf-8"))
    if only is not None and only not in rooms:
        sys.exit(f"no mutants of {only}; there are some of: {', '.join(rooms)}")
    return [
        Mutant(**mutant)
        for room, mutants in rooms.items()
        if only in (None, room)
        for mutant in mutants
    ]


def passes(copy: Path, tests: Sequence[str]) -> bool:
    """Whether tests pass in the copy, in a process that is forked from this one; exits if they cannot be run."""
    process = FORK.Process(target=_tested, args=(copy, tests))
    process.start()
    process.join()
    # What is not run says nothing
    if process.exitcode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(f"pytest could not run {' '.join(tests)}:\n{(copy / SAID).read_text()}")
    return process.exitcode == 0


def _tested(copy: Path, tests: Sequence[str]) -> None:
    said = os.open(copy / SAID, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    # No byte code: a file that changes twice a second would be read from that of the fault before.
    sys.dont_write_bytecode = True
    os.environ["BLURB_TEST_DATA"] = os.environ.get("BLURB_TEST_DATA") or str(
        HERE.parent / "shared" / "data"
    )
    os.environ["CI"] = "1"
    sys.exit(
        pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow", *tests])
    )


def answer(mutant: Mutant, copy: Path) -> str:
    """`killed`, or what is wrong with the tests or with the list."""
    file = copy / "blurb" / mutant.file
    text = file.read_text(encoding="utf-8")
    if (times := text.count(mutant.old)) != 1:
        return f"its text stands {times} times in the file"
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        return "SURVIVED" if passes(copy, mutant.tests) else "killed"
    finally:
        file.write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="ROOM", help="the mutants of one room")
    mutants = of_rooms(parser.parse_args().only)
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        for part in COPIED:
            shutil.copytree(HERE / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(HERE / "pyproject.toml", copy)
        if not passes(copy, sorted({test for mutant in mutants for test in mutant.tests})):
            print("the tests fail without any fault")
            return 1
        answers = []
        for mutant in mutants:
            answers.append(answer(mutant, copy))
            print(f"{answers[-1]:9} {mutant.file}: {mutant.fault}", flush=True)
    print(f"{answers.count('killed')} of {len(mutants)} killed")
    return int(answers.count("killed") < len(mutants))


if __name__ == "__main__":
    sys.exit(main())
