"""What later collections pass over. Oracle: `gc` itself, in a process of its own, as it is all of a process."""

from __future__ import annotations

import subprocess
import sys

LATER = """
import gc, weakref
from blurb import garbage

class Learner:
    def __init__(self): self.me = self

gc.collect()
garbage.settle()
settled = gc.get_freeze_count()
later = weakref.ref(Learner())
garbage.settle()
assert settled > 1000 and gc.get_freeze_count() <= settled, "once a process"
gc.collect()
assert later() is None, "a learner that refers to itself goes"
"""


def test_what_comes_later_is_collected() -> None:
    subprocess.run([sys.executable, "-c", LATER], check=True)


def test_collection_is_off_for_the_block_alone() -> None:
    code = "import gc; from blurb.garbage import no_collection\nwith no_collection(): assert not gc.isenabled()\n"
    subprocess.run([sys.executable, "-c", f"{code}assert gc.isenabled()"], check=True)
