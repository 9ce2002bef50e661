"""docs/python.md does what it says."""

from __future__ import annotations

import doctest
from pathlib import Path

GUIDE = Path(__file__).parent.parent / "docs" / "python.md"


def test_the_examples_of_the_guide(here: Path) -> None:
    done = doctest.testfile(str(GUIDE), module_relative=False)
    assert (done.attempted > 10, done.failed) == (True, 0)
