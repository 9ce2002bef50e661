"""Pack, two parts and merge, end to end on this machine."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.device import code, rehearsal


@pytest.mark.costly
def test_two_parts_from_the_bundle_to_the_page(tmp_path: Path) -> None:
    root = rehearsal.clone(tmp_path / "clone")
    lines = rehearsal.in_folder(root, tmp_path, ["memory", "tests"])
    head = code.git(root, "rev-parse", "HEAD")
    assert lines[0].startswith("device.json: ")
    assert lines[0].endswith(f"commit {head[:8]}")
    assert lines[1:] == []
    (stored,) = (root / "docs" / "results" / "device").glob("*.json")
    content = json.loads(stored.read_text(encoding="utf-8"))
    assert content["manifest"]["commit"] == head
    states = {name: part["state"] for name, part in content["parts"].items()}
    assert states == {"memory": "complete", "tests": "complete"}
    (memory,) = content["parts"]["memory"]["cells"].values()
    # 64 do not fit into seven tenths of themselves, half of them do
    assert memory["micro-batch"] == 32
    assert memory["limited"] == pytest.approx(memory["free"], rel=1e-3)
    (tests,) = content["parts"]["tests"]["cells"].values()
    assert tests["failed"] == 0
    assert tests["passed"] + tests["skipped"] >= 10
    text = (root / "docs" / "performance.md").read_text(encoding="utf-8")
    assert "| BERT-base | 70% of the batch | 64 | 32 |" in text
    assert not re.search(r"/(?:tmp|root|home|work)/", stored.read_text(encoding="utf-8"))
