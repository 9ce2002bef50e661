"""Two commands on one store, on a disk that refuses locks. Oracle: the tables of one command alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SWEEP = ["run", "baseline:majority", "baseline:bigrams", "--suite", "demo", "--protocol", "smoke"]
REFUSED = """
import fcntl
import sys

def refused(*given):
    sys.stderr.write("a lock was asked for\\n")
    raise OSError(38, "Function not implemented")

fcntl.flock = fcntl.lockf = refused
"""


def start(folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    given = [sys.executable, "-m", "blurb", *SWEEP, "--tasks", "gad,biosses,hoc", "--seeds", "2"]
    return subprocess.Popen(
        given, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_two_commands_on_a_disk_without_locks_make_the_tables_of_one(tmp_path: Path) -> None:
    for name in ("alone", "together", "site"):
        (tmp_path / name).mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(REFUSED)
    refusing = {**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}:{os.environ.get('PYTHONPATH', '')}"}
    alone = start(tmp_path / "alone", os.environ)
    _, told = alone.communicate(timeout=300)
    assert alone.returncode == 0, told
    two = [start(tmp_path / "together", refusing) for _ in range(2)]
    said = [process.communicate(timeout=300)[1] for process in two]
    assert [process.returncode for process in two] == [0, 0], said
    assert "a lock was asked for" not in "".join(said)
    ran = told.count(": done in")
    assert ran > 0
    assert sum(text.count(": done in") for text in said) == ran
    assert sum(text.count(": already done") for text in said) == ran
    for name in ("results.csv", "leaderboard.csv"):
        assert (tmp_path / "together" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    left = [
        path
        for path in (tmp_path / "together").rglob(".*")
        if path.name not in (".blurb-tables.json", ".index", ".sweeps") and ".index" not in path.parts
    ]
    assert left == []
