"""Workflows run what their files name and nothing that was changed since: actions stand with a commit."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

yaml = pytest.importorskip("yaml")
PINNED = re.compile(r"[\w./-]+@[0-9a-f]{40}")


@pytest.fixture(scope="module")
def workflows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Those of this project, and those of a new board."""
    from blurb.extensions.board.boards import found_board

    board = tmp_path_factory.mktemp("board")
    files = [
        *(ROOT / ".github" / "workflows").glob("*.yml"),
        *(f for f in found_board(board, "Ours") if f.suffix == ".yml"),
    ]
    assert len(files) == 5
    return [yaml.safe_load(Path(file).read_text(encoding="utf-8")) for file in files]


def steps(workflows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        step for workflow in workflows for job in workflow["jobs"].values() for step in job["steps"]
    ]


def test_actions_are_pinned_to_commits(workflows: list[dict[str, Any]]) -> None:
    used = [step["uses"] for step in steps(workflows) if "uses" in step]
    assert len(used) > 15
    assert [name for name in used if not PINNED.fullmatch(name)] == []


def test_a_job_that_may_publish_runs_no_code_of_packages(workflows: list[dict[str, Any]]) -> None:
    """Whatever is installed runs; a job that may write only hands over what another one made."""
    able = [
        job
        for workflow in workflows
        for job in workflow["jobs"].values()
        if job.get("permissions", {}).get("id-token") == "write" or "gh release" in str(job)
    ]
    assert len(able) == 2
    run = [step["run"] for job in able for step in job["steps"] if "run" in step]
    assert [line for line in run if not line.startswith("gh release create ")] == []
