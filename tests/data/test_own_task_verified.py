"""`blurb data verify` of a task file, which names its own data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blurb import tasks
from tests.cli.in_process import blurb as command

TASK = """
name = "my-claims"
type = "document"
labels = ["a", "b"]
format = {kind = "jsonl"}
files = {train = "t.jsonl", dev = "t.jsonl", test = "t.jsonl"}
"""


def test_a_task_file_needs_no_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_files", {})
    monkeypatch.setenv("BLURB_DATA", str(tmp_path / "nowhere"))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "my.toml").write_text(TASK, encoding="utf-8")
    lines = [json.dumps({"text": f"kalo {number}", "labels": ["a"]}) for number in range(8)]
    (tmp_path / "own" / "t.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, said = command(["data", "verify", "--tasks", "./own/my.toml"], tmp_path)
    assert (code, "my-claims" in out, "8" in out) == (0, True, True), said
    assert command(["data", "verify", "--tasks", "./own/my.toml,gad"], tmp_path)[0] == 2
