"""What later collections pass over. Oracle: `gc` itself, in a process of its own, as it is all of a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LATER = """
import gc, weakref
from blurb.system import process as garbage

class Learner:
    def __init__(self): self.me = self

gc.collect()
garbage.freeze_gc()
assert gc.get_freeze_count() == 0, "this process may be somebody's notebook"
garbage.own_process()
garbage.freeze_gc()
settled = gc.get_freeze_count()
later = weakref.ref(Learner())
garbage.freeze_gc()
assert settled > 1000 and gc.get_freeze_count() <= settled, "once a process"
gc.collect()
assert later() is None, "a learner that refers to itself goes"
"""


def test_what_comes_later_is_collected() -> None:
    subprocess.run([sys.executable, "-c", LATER], check=True)


def test_collection_is_off_for_the_block_alone() -> None:
    code = "import gc; from blurb.system import process as g\nwith g.gc_disabled(): assert not gc.isenabled()\n"
    subprocess.run([sys.executable, "-c", f"{code}assert gc.isenabled()"], check=True)


IN_A_NOTEBOOK = """
import gc, sys, weakref
import blurb

class Mine:
    def __init__(self): self.me = self

mine = Mine()
gone = weakref.ref(mine)
blurb.run("baseline:majority", "biosses", suite="demo", seeds=1, output=sys.argv[1], progress=False)
del mine
gc.collect()
assert gone() is None and gc.get_freeze_count() == 0
"""


@pytest.mark.costly
def test_what_the_caller_of_run_has_is_collected(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", IN_A_NOTEBOOK, str(tmp_path / "runs")], check=True)


@pytest.mark.costly
def test_a_command_settles(tmp_path: Path) -> None:
    code = "import gc, sys\nfrom blurb.cli import main\ntry: main()\nfinally: print(gc.get_freeze_count())\n"
    command = [
        sys.executable,
        "-c",
        code,
        "run",
        "baseline:majority",
        "--suite",
        "demo",
        "--tasks",
        "biosses",
    ]
    done = subprocess.run(
        [*command, "--output", "runs"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert int(done.stdout.split()[-1]) > 1000
