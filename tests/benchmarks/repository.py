"""A repository of a few files, as small as one that can be packed."""

from pathlib import Path
from typing import Any

from benchmarks.device import code, page
from benchmarks.device.rehearsal import commit
from benchmarks.device.results import COMPLETE, KIND, VERSION

FILES = {
    "blurb/__init__.py": "",
    "benchmarks/x.py": "X = 1\n",
    "tests/test_x.py": "",
    "pyproject.toml": "",
    "constraints.txt": "# pinned\ntorch==2.13.0\nnumpy==2.4.6\nclick==8.5.1\n",
    "README.md": "read me\n",
    "LICENSE": "free\n",
    "docs/performance.md": f"# Performance\n\n{page.BEGIN}\n{page.END}\n\nThe end.\n",
}


def make(root: Path) -> Path:
    """The repository, with one commit."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    code.git(root, "init", "--quiet")
    commit(root, "first")
    return root


def change(root: Path, name: str, text: str = "changed = True\n") -> str:
    """Commits another content of a file; the commit."""
    (root / name).write_text(text, encoding="utf-8")
    commit(root, f"change {name}")
    return code.git(root, "rev-parse", "HEAD")


def results(root: Path, card: str = "NVIDIA H100", **changed: Any) -> dict[str, Any]:
    """Results of a part that the code of HEAD measured.

    :param changed: keys of the manifest
    """
    head = code.git(root, "rev-parse", "HEAD")
    return {
        "kind": KIND,
        "version": VERSION,
        "manifest": {
            "commit": head,
            "dirty": False,
            "small": False,
            "trees": code.trees(root, head),
            **changed,
        },
        "card": {
            "card": card,
            "cards": 1,
            "memory": 79.6,
            "cuda": "13.0",
            "torch": "2.11.0",
            "transformers": "5.17.0",
        },
        "differences": ["torch is 2.11.0 here; the tests pass with 2.13.0"],
        "parts": {"jobs": part({"1": trials(120), "4": trials(48)})},
    }


def part(
    cells: dict[str, Any], state: str = COMPLETE, why: str = "", **told: str
) -> dict[str, Any]:
    return {"state": state, "why": why, "seconds": 100.0, "cells": cells, "told": told}


def trials(seconds: float) -> dict[str, float]:
    """Eight trials in so many seconds."""
    return {"trials": 8, "seconds": seconds, "memory": 3.25}
