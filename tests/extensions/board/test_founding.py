"""A new board: its workflows are safe as they are written, and their steps do what they say when they are run."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.extensions.board import boards, ledger
from tests.cli.in_process import blurb as command, done, failed, refused
from tests.scoring.test_forms import answers

GH = """#!/bin/sh
for word in "$@"; do case "$word" in body=@*) cp "${word#body=@}" posted.md;; */files) cat files.txt; exit;; esac; done
case "$*" in *"pulls -f"*) echo 7;; esac
"""
"""Stands for the service: it has pull request 7, with the files of `files.txt`, and takes what is posted."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workplace with a board and the files of a row beside it; `gh` and `blurb` are in `bin`."""
    folder = tmp_path_factory.mktemp("founded")
    code, out, err = command(
        ["leaderboard", "init", "board", "--suite", "demo", "--title", "A board"], folder
    )
    assert (code, err) == (0, ""), err
    assert "Written: board/ledger.jsonl" in out
    units = read_split(tasks.get("gad"), demo.prepare(), "test")
    blurb.score("gad", answers("gad", units), suite="demo", add="tool", output=folder / "runs")
    done(["export", "row", "tool", "--output", "runs", "--out", "row"], folder)
    (folder / "bin").mkdir()
    (folder / "bin" / "gh").write_text(GH)
    (folder / "bin" / "gh").chmod(0o755)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def workflow(folder: Path, name: str) -> dict[str, Any]:
    return dict(
        yaml.safe_load((folder / "board" / boards.WORKFLOWS / name).read_text(encoding="utf-8"))
    )


def run(
    folder: Path, name: str, job: str, step: str, **values: str
) -> subprocess.CompletedProcess[str]:
    """Runs a step as the service does.

    :param values: of the variables that the service would fill in
    """
    found = next(
        each for each in workflow(folder, name)["jobs"][job]["steps"] if each.get("name") == step
    )
    assert {key for key, value in found.get("env", {}).items() if "${{" in value} == set(values)
    path = os.pathsep.join(
        (str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])
    )
    environment = {**os.environ, **found.get("env", {}), **values, "PATH": path}
    shell = (
        ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
        if found.get("shell") == "bash"
        else ["bash", "-e"]
    )
    return subprocess.run(
        [*shell, "-c", found["run"]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=me", "-c", "user.email=me@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(
        ["git", *who, *words], cwd=folder / "board", capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("suite", ["demo", "blurb"])
def test_the_workflows_are_safe_as_they_are_written(suite: str, tmp_path: Path) -> None:
    boards.found_board(tmp_path / "board", "A board", suite)
    for path in (tmp_path / "board").rglob("*"):
        assert path.is_dir() or "pull_request_target" not in path.read_text(encoding="utf-8")
    looks, publishes = (workflow(tmp_path, name) for name in ("verify.yml", "publish.yml"))
    assert looks["permissions"] == {"contents": "read"}
    assert publishes["permissions"] == {}
    assert set(publishes[True]) == {"workflow_run"}  # YAML reads `on` as a truth value
    for content in (looks, publishes):
        for job in content["jobs"].values():
            for step in job["steps"]:
                # What a stranger may name, a branch for one, never becomes a part of a script.
                assert "${{" not in step.get("run", "")
                if step.get("uses", "").startswith("actions/checkout"):
                    assert step["with"]["path"] == "board"
                    assert step["with"]["persist-credentials"] is False
    text = (tmp_path / "board" / boards.WORKFLOWS / "verify.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "github.token" not in text
    assert looks["jobs"].keys() == {"verify"}
    assert "permissions" not in looks["jobs"]["verify"]
    writing = publishes["jobs"]["comment"]
    assert writing["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert not any("checkout" in step.get("uses", "") for step in writing["steps"])
    installs = [
        step
        for job in (looks["jobs"]["verify"], publishes["jobs"]["page"])
        for step in job["steps"]
    ]
    pinned = [step["env"]["BLURB"] for step in installs if step.get("name") == "install"]
    assert pinned == [f"blurb-bench=={blurb.__version__}"] * 2


@pytest.mark.skipif(shutil.which("git") is None, reason="a board of several people is a repository")
def test_from_the_first_row_to_the_published_page(folder: Path) -> None:
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "a board")
    submit = ["leaderboard", "submit", "board", "row", "--as", "tool", "--by", "A group"]
    assert command(submit, folder)[0] == 0
    git(folder, "add", ".")
    git(folder, "commit", "-m", "a row")
    assert run(folder, "verify.yml", "verify", "the ledger before", BEFORE="HEAD^1").returncode == 0
    assert (folder / "released.jsonl").read_text() == ""
    looked = run(folder, "verify.yml", "verify", "verify", SUBMITTED="--submitted")
    assert looked.returncode == 0, looked.stdout + looked.stderr
    assert re.search(r"tool +tool +recomputed", looked.stdout)
    (folder / "verdict").mkdir()
    (folder / "verdict.txt").rename(folder / "verdict" / "verdict.txt")
    comment = post(folder, "rows/tool/row.json\nrows/tool/gad.parquet\nledger.jsonl\n")
    assert comment.startswith(
        "The rows of this pull request, as blurb sees them (success):\n\n    "
    )
    assert "recomputed" in comment
    code, _, err = command(
        ["leaderboard", "verify", "board", "--suite", "demo", "--record", "The board"], folder
    )
    assert (code, err) == (0, "New entries in the ledger: 1\n")
    page = run(folder, "publish.yml", "page", "page")
    assert page.returncode == 0, page.stderr
    text = (folder / "page" / "index.html").read_text(encoding="utf-8")
    for told in (
        "<title>A board</title>",
        "The board: recomputed",
        "A group: added",
        "@misc{tool,",
        "by The board",
    ):
        assert told in text


def post(folder: Path, files: str) -> str:
    (folder / "files.txt").write_text(files)
    values = {
        "GH_TOKEN": "",
        "REPOSITORY": "a/board",
        "OWNER": "me",
        "BRANCH": "$(touch x)",
        "COMMIT": "0" * 40,
    }
    done = run(folder, "publish.yml", "comment", "comment", **values, RESULT="success")
    assert done.returncode == 0, done.stderr
    assert not (folder / "x").exists()
    return (folder / "posted.md").read_text(encoding="utf-8")


def test_a_verdict_is_posted_as_nothing_but_text(folder: Path) -> None:
    (folder / "verdict").mkdir()
    (folder / "verdict" / "verdict.txt").write_text(
        "```\n@everyone <img src=x>\n# [a](b)\n\x1b[2Jé\r\n" + "x" * 99_999
    )
    comment = post(folder, "rows/a/row.json\n.github/workflows/verify.yml\n")
    first, blank, *lines = comment.splitlines()
    assert first.startswith("This pull request changes 1 other files than rows and the ledger.")
    assert blank == ""
    assert all(line.startswith("    ") for line in lines)
    assert lines[:4] == ["    ```", "    @everyone <img src=x>", "    # [a](b)", "    [2J"]
    assert len(comment) < 60_000


def test_a_verdict_that_is_a_link_is_not_read(folder: Path) -> None:
    (folder / "verdict").mkdir()
    (folder / "verdict" / "verdict.txt").symlink_to("/etc/passwd")
    values = dict.fromkeys(("GH_TOKEN", "REPOSITORY", "OWNER", "BRANCH", "COMMIT", "RESULT"), "")
    assert run(folder, "publish.yml", "comment", "comment", **values).returncode == 1
    assert not (folder / "posted.md").exists()


def test_a_stranger_may_only_add_rows(folder: Path) -> None:
    (folder / "before.jsonl").touch()
    assert (
        command(
            ["leaderboard", "submit", "board", "row", "--as", "tool", "--by", "A group"], folder
        )[0]
        == 0
    )
    verify = ["leaderboard", "verify", "board", "--suite", "demo"]
    # In whose name, nobody can tell
    assert command([*verify, "--record", "The board"], folder)[0] == 0
    since = ["--since", "before.jsonl"]
    assert command([*verify, *since], folder)[0] == 0
    out = failed([*verify, *since, "--submitted"], folder)
    assert "Problem: tool: a submission may only add rows, and has: " in out
    _, out, _ = command([*verify, *since, "--format", "json"], folder)
    assert [line.partition(", ")[2] for line in json.loads(out)["new"]] == [
        "A group: added",
        "The board: recomputed",
    ]


def replaced(board: Path) -> None:
    """Another's row taken away, and one's own added under its name."""
    name, manifest = "tool", ledger.manifest_of(board / "rows" / "tool")
    ledger.append(
        board, ledger.LedgerEntry("2099-01-01", ledger.Event.ADDED, name, "A stranger", manifest)
    )


def in_the_future(board: Path) -> None:
    shutil.copytree(board / "rows" / "tool", board / "rows" / "other")
    manifest = ledger.manifest_of(board / "rows" / "tool")
    ledger.append(
        board, ledger.LedgerEntry("2098-01-01", ledger.Event.ADDED, "other", "A stranger", manifest)
    )


def withdrawn_twice(board: Path) -> None:
    for _ in range(2):
        entry = ledger.LedgerEntry(
            "2099-01-01", ledger.Event.WITHDRAWN, "tool", "A stranger", reason="mine is better"
        )
        ledger.append(board, entry)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (replaced, "tool: added on 2099-01-01, when it was there already"),
        (in_the_future, "other: added on 2098-01-01, which is still to come"),
        (
            lambda board: (board / "rows" / "setup.py").write_text("raise SystemExit"),
            "setup.py: no entry says that the row was added",
        ),
        (withdrawn_twice, "tool: withdrawn on 2099-01-01, when it was not on the board"),
    ],
)
def test_what_a_stranger_may_not_do(
    change: Callable[[Path], None], told: str, folder: Path
) -> None:
    assert (
        command(
            ["leaderboard", "submit", "board", "row", "--as", "tool", "--by", "A group"], folder
        )[0]
        == 0
    )
    shutil.copy(folder / "board" / ledger.FILE, folder / "before.jsonl")
    change(folder / "board")
    words = [
        "leaderboard",
        "verify",
        "board",
        "--suite",
        "demo",
        "--since",
        "before.jsonl",
        "--submitted",
    ]
    assert f"Problem: {told}." in failed(words, folder)


def linked_ledger(board: Path) -> None:
    (board / ledger.FILE).unlink()
    (board / ledger.FILE).symlink_to("/etc/passwd")


def linked_rows(board: Path) -> None:
    shutil.rmtree(board / "rows")
    (board / "rows").symlink_to("..")


@pytest.mark.parametrize(
    "change",
    [
        linked_ledger,
        lambda board: (board / "rows" / "tool").symlink_to("../../row"),
        linked_rows,
        lambda board: (board / ledger.FILE).write_text("[" * 100_000),
    ],
    ids=["linked ledger", "linked row", "linked rows", "a ledger without an end"],
)
def test_a_hostile_board_is_refused(change: Callable[[Path], None], folder: Path) -> None:
    change(folder / "board")
    for words in (
        ["verify", "board", "--suite", "demo"],
        ["html", "--board", "board", "--out", "page.html"],
    ):
        err = refused(["leaderboard", *words], folder)
        assert "Traceback" not in err
        assert "board/" in err
    assert not (folder / "page.html").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--title", 'a"; rm -rf'], "must be plain words"),
        (["--blurb", "blurb; curl x"], "must be plain words"),
        (["--blurb", "$(id)"], "must be plain words"),
        ([], "the folder is not empty"),
    ],
)
def test_bad_input_writes_nothing(words: list[str], told: str, tmp_path: Path) -> None:
    if not words:
        (tmp_path / "board").mkdir()
        (tmp_path / "board" / "notes.txt").touch()
    assert told in refused(["leaderboard", "init", "board", *words], tmp_path)
    assert not (tmp_path / "board" / ledger.FILE).exists()
