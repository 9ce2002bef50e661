"""Freed memory goes back to the system."""

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import torch
from blurb.system import process
def resident(): return int(open("/proc/self/statm").read().split()[1]) * 4096
kept = [torch.ones(1_000) for _ in range(50_000)]  # small tensors come from the heap, which only shrinks at its end
last, held = kept[-1], None
del kept
held = resident()
process.trim_heap()
print(held - resident())
"""


@pytest.mark.costly
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a function of glibc")
def test_freed_memory_goes_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 150_000_000
