"""Freed memory is reused instead of being mapped again, and is given back after a trial."""

import json
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc")
SCRIPT = """
import json, resource, torch
from blurb.training import memory
def pages(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def faults():
    start = pages()
    for _ in range(10): torch.ones(10_000_000)  # 40 MB, above the 32 MiB that glibc keeps of itself
    return pages() - start
def resident(): return int(open("/proc/self/statm").read().split()[1])
before = faults()
kept = memory.keep_freed()
faults(), faults()  # the heap finds its places
after, held = faults(), resident()
memory.give_back()
print(json.dumps([kept, before, after, held - resident()]))
"""


def test_large_tensors_are_mapped_once_and_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    kept, before, after, returned = json.loads(done.stdout)
    assert kept
    assert after < before / 10
    assert returned > 40_000_000 / 4096 * 0.9
