"""docs/extend.md and docs/first-hour.md work literally, in a folder where there is nothing else.

Files are written as the guide shows them (their first line has the name), and every line of shell runs; only
`pip install -e .` becomes what it leaves for Python to find, the metadata of the package.
"""

import doctest
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from blurb.system import text_files
from tests.conftest import ROOT

INSTALL = "pip install -e ."


def blocks(page: str, folder: Path = ROOT / "docs") -> Iterator[tuple[str, str]]:
    """Language and content of each block of a page."""
    text = (folder / page).read_text(encoding="utf-8")
    yield from re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def install(folder: Path, only: str = "") -> None:
    """What Python sees of the package in a folder that is on its path.

    :param only: group of entry points; all of them if empty
    """
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {target}" for name, target in points.items())])
        for group, points in project["entry-points"].items()
        if only in ("", group)
    ]
    (info / "entry_points.txt").write_text("\n".join(groups) + "\n")


def follow(page: str, folder: Path, pages: Path = ROOT / "docs") -> str:
    """Does all that a page says; returns what was printed."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
        "COLUMNS": "120",
    }
    printed = ""
    for language, content in blocks(page, pages):
        named = re.match(r"# ([\w./]+)\n", content)
        if named and language in ("python", "toml"):
            target = folder / named[1]
            target.parent.mkdir(exist_ok=True)
            target.write_text(content, encoding="utf-8")
        if language == "sh":
            if INSTALL in content:
                install(folder)
            script = "set -e\n" + content.replace(
                "mkdir my_package", "mkdir -p my_package"
            ).replace(INSTALL, "")
            done = subprocess.run(
                ["bash", "-c", script],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (script, done.stdout[-2000:], done.stderr[-2000:])
            printed += done.stdout
    return printed


@pytest.mark.slow
def test_the_guide(tmp_path: Path) -> None:
    printed = follow("extend.md", tmp_path)
    assert re.search(r"my-head .*hidden=64", printed)
    assert "largest" in printed
    rows = (tmp_path / "runs" / "leaderboard.csv").read_text(encoding="utf-8")
    for override in (
        "head=my_head.py:MyHead",
        "hidden=128",
        "pooling=my_pooling.py:Largest",
        "pooling=largest",
    ):
        assert override in rows
    (shown,) = [
        content
        for language, content in blocks("extend.md")
        if language == "toml" and "[files]" in content
    ]
    assert tomllib.loads(shown) == text_files.read_toml(tmp_path / "my-genes.toml")
    results = (tmp_path / "runs" / "results.csv").read_text(encoding="utf-8")
    for line in ("my-corpus,ner,", "sentence_accuracy", "my-claims,claims,"):
        assert line in results
    assert "NEIGHBOURS\n" in printed
    assert "a row of neighbours is not comparable with a probe" in printed


@pytest.mark.slow
@pytest.mark.parametrize("page", ["add-a-head.md", "add-a-task.md"])
def test_packages_of_earlier_guides_run_unchanged(page: str, tmp_path: Path) -> None:
    """The blocks of two guides as they were printed before the core and the extensions came apart."""
    follow(page, tmp_path, ROOT / "tests" / "frozen" / "guides")


def masked(text: str) -> set[str]:
    """Its lines without the figures, which are of one processor, and without the width of columns."""
    lines = (" ".join(re.sub(r"[-+<±]*\d[\d.]*", "#", line).split()) for line in text.splitlines())
    return {line for line in lines if line}


@pytest.mark.slow
def test_the_first_hour_prints_what_it_shows(here: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    environment |= {"PYTHONPATH": str(ROOT), "COLUMNS": "100", "HF_HUB_OFFLINE": "1"}
    printed = ""
    for language, content in blocks("first-hour.md"):
        if language == "text":
            assert masked(content) - masked(printed) == set()
        else:
            done = subprocess.run(
                ["bash", "-ec", content],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == ("blurb check" in content), done.stderr[-2000:]
            printed = done.stdout


# docs/python.md does what it says.


GUIDE = Path(__file__).parent.parent / "docs" / "python.md"


def test_the_examples_of_the_guide(here: Path) -> None:
    done = doctest.testfile(str(GUIDE), module_relative=False)
    assert (done.attempted > 10, done.failed) == (True, 0)
