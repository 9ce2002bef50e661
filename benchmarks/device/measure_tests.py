"""The tests marked `gpu`, which are skipped on every machine without one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from defusedxml.ElementTree import parse

from benchmarks.device.cells import Cell, Context, Figures

FILES = ("tests/training/test_gpu.py", "tests/training/test_resuming.py")
"""Those with such tests: collecting all would take longer than running them."""
COLUMNS = ("passed", "failed", "skipped", "seconds", "failed tests")


def cells(context: Context) -> Iterator[Cell]:
    """One run of pytest."""
    yield Cell("pytest -m gpu", lambda: measure(context))


def measure(context: Context) -> Figures:
    """Counts, seconds, and the names of tests that failed.

    :raises RuntimeError: if pytest could not run them
    """
    report = context.work / "tests.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", *FILES]
    code = subprocess.run(
        [*command, f"--junitxml={report}"], timeout=context.left, check=False
    ).returncode
    if code not in (0, 1):  # all passed or were skipped, or some failed
        raise RuntimeError(f"pytest ended with {code}")
    return counts(report)


def counts(report: Path) -> Figures:
    """What a JUnit file says."""
    suite = parse(report).getroot().find("testsuite")
    total, skipped = int(suite.get("tests")), int(suite.get("skipped"))
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    names = [
        case.get("name")
        for case in suite.iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    ]
    return {
        "passed": total - skipped - failed,
        "failed": failed,
        "skipped": skipped,
        "seconds": round(float(suite.get("time")), 1),
        "names": names,
    }


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    return [
        (
            *(str(one[name]) for name in COLUMNS[:4]),
            ", ".join(f"`{name}`" for name in one["names"]) or "none",
        )
        for one in found.values()
    ]
