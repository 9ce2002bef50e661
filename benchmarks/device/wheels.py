"""The wheels that a machine with torch and transformers may still lack, in the versions of constraints.txt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from blurb.messages.errors import BlurbError

NAMES = (
    "datasets",
    "evaluate",
    "dill",
    "multiprocess",
    "xxhash",
    "platformdirs",
    "defusedxml",
    "jsonschema",
    "jsonschema-specifications",
    "referencing",
    "rpds-py",
)
"""What blurb needs besides torch, transformers, accelerate, NumPy, SciPy, scikit-learn, pandas, pyarrow, click and
rich, with what these need in turn, as pip installs them one by one. `run.sh` uses a wheel only where the package is
missing."""
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")


def collect(folder: Path, python: str, constraints: Path) -> list[Path]:
    """Wheels for Linux on x86-64, from pip's cache or, where they are not in it, downloaded by pip.

    :param python: version of Python on the other machine, such as `3.12`
    :raises BlurbError: if pip cannot get all of them
    """
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]
    command += ["--only-binary=:all:", "--implementation", "cp", "--python-version", python]
    command += [part for name in PLATFORMS for part in ("--platform", name)]
    command += ["-d", str(folder), "-c", str(constraints), *NAMES]
    # What pip says names indexes and folders of this machine, which nobody else needs to read.
    if subprocess.run(command, capture_output=True, text=True, check=False).returncode:
        raise BlurbError(
            f"pip could not get the wheels for Python {python}",
            fix="try again with network, or give a folder of wheels with --wheels.",
        )
    return sorted(folder.glob("*.whl"))
