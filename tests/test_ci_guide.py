"""The workflow of docs/ci.md does what it says: its shell lines run on the demo data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.corpora import demo
from tests.conftest import ROOT

yaml = pytest.importorskip("yaml")
BLOCKS = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), re.DOTALL)


def scripts() -> list[str]:
    """The steps that call blurb, of the workflow and of the action."""
    found = []
    for block in BLOCKS:
        content = yaml.safe_load(block)
        steps = content["runs"]["steps"] if "runs" in content else content["jobs"]["blurb"]["steps"]
        found += [step["run"] for step in steps if "blurb run" in step.get("run", "")]
    return found


@pytest.mark.parametrize("script", scripts(), ids=["workflow", "action"])
@pytest.mark.parametrize(("baseline", "code"), [("baseline:majority", 0), ("better", 1)])
def test_the_steps_run(tmp_path: Path, script: str, baseline: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = demo.prepare()
    common = ["--data", str(data), "--tasks", "gad,hoc", "--protocol", "quick"]
    arguments = ["run", "baseline:majority", *common, "--output", "old", "--leaderboard", "baseline/leaderboard.csv"]
    assert CliRunner().invoke(cli, [*arguments, "--name", "old"], catch_exceptions=False).exit_code == 0
    results = tmp_path / "baseline" / "results.csv"
    if baseline == "better":
        results.write_text(re.sub(r",(f1|micro_f1),[0-9.]+,", r",\1,99.0,", results.read_text()))
    (tmp_path / "blurb-check.toml").write_text("max_drop = 1.0\n")
    environment = {
        **os.environ, "MODEL": "baseline:majority", "DATA": str(data), "TASKS": "gad,hoc", "BASELINE": str(results),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert (tmp_path / "blurb-junit.xml").exists()
