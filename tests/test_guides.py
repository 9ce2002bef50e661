"""docs/add-a-head.md and docs/add-a-task.md work literally, in a folder where there is nothing else.

Files are written as the guides show them (their first line has the name), and every line of shell runs; only
`pip install -e .` becomes what it leaves for Python to find, the metadata of the package.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from blurb.system import toml
from tests.conftest import ROOT

INSTALL = "pip install -e ."


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Language and content of each block of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    yield from re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def install(folder: Path) -> None:
    """What Python sees of the package in a folder that is on its path."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {target}" for name, target in points.items())])
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups) + "\n")


def follow(page: str, folder: Path) -> str:
    """Does all that a page says; returns what was printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "COLUMNS": "120"}
    printed = ""
    for language, content in blocks(page):
        named = re.match(r"# ([\w./]+)\n", content)
        if named and language in ("python", "toml"):
            target = folder / named[1]
            target.parent.mkdir(exist_ok=True)
            target.write_text(content, encoding="utf-8")
        if language == "sh":
            if INSTALL in content:
                install(folder)
            script = "set -e\n" + content.replace("mkdir my_package", "mkdir -p my_package").replace(INSTALL, "")
            done = subprocess.run(
                ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (script, done.stdout[-2000:], done.stderr[-2000:])
            printed += done.stdout
    return printed


@pytest.mark.slow
def test_a_head_and_a_pooling(tmp_path: Path) -> None:
    printed = follow("add-a-head.md", tmp_path)
    assert re.search(r"my-head .*hidden=64", printed)
    assert "largest" in printed
    rows = (tmp_path / "runs" / "leaderboard.csv").read_text(encoding="utf-8")
    for override in ("head=my_head.py:MyHead", "hidden=128", "pooling=my_pooling.py:Largest", "pooling=largest"):
        assert override in rows


@pytest.mark.slow
def test_a_task_a_metric_and_a_type(tmp_path: Path) -> None:
    follow("add-a-task.md", tmp_path)
    (shown,) = [content for language, content in blocks("add-a-task.md") if language == "toml" and "[files]" in content]
    assert tomllib.loads(shown) == toml.read(tmp_path / "my-genes.toml")
    results = (tmp_path / "runs" / "results.csv").read_text(encoding="utf-8")
    for line in ("my-corpus,ner,", "sentence_accuracy", "my-claims,claims,"):
        assert line in results


@pytest.mark.slow
def test_a_kind_of_learner(tmp_path: Path) -> None:
    printed = follow("add-a-learner.md", tmp_path)
    assert "a row of neighbours is not comparable with a probe" in printed
