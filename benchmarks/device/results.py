"""The file that comes back, `device.json`: what made it, on which card, and the figures of each part by cell.

    {"kind": "blurb device results", "version": 1, "manifest": {...}, "card": {...}, "differences": [...],
     "parts": {"throughput": {"state": "complete", "why": "", "seconds": 12.3,
                              "cells": {NAME: FIGURES}, "told": {NAME: WHY}}}}

It holds figures and versions, never text, weights or the name of a machine. A part is `cut off` from its beginning
until its end, so that a process that was killed has said so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blurb.messages.errors import BlurbError
from blurb.system.files import write_whole

KIND, VERSION = "blurb device results", 1
FILE = "device.json"
COMPLETE, INCOMPLETE, CUT, SKIPPED = "complete", "incomplete", "cut off", "skipped"
"""Incomplete is a part that ended by itself, with measurements that failed: the next call tries these again."""


class Results:
    """The file, rewritten whole with every change.

    :param paths: where it is written; the first is read to go on
    :param manifest: of the bundle
    :param card: of `cards.describe`
    """

    def __init__(
        self,
        paths: tuple[Path, ...],
        manifest: Mapping[str, Any],
        card: Mapping[str, Any],
        differences: list[str],
    ) -> None:
        self.paths = paths
        self.parts: dict[str, dict[str, Any]] = (
            read(paths[0])["parts"] if is_of(paths[0], manifest, card["card"]) else {}
        )
        self.head = {
            "kind": KIND,
            "version": VERSION,
            "manifest": dict(manifest),
            "card": dict(card),
            "differences": differences,
        }

    def part(self, name: str) -> dict[str, Any]:
        """A part, new if there is none."""
        return self.parts.setdefault(
            name, {"state": CUT, "why": "", "seconds": 0.0, "cells": {}, "told": {}}
        )

    def is_complete(self, name: str) -> bool:
        """Whether nothing of a part is left to measure."""
        return bool(self.parts.get(name, {}).get("state") == COMPLETE)

    def write(self) -> None:
        """Writes the file."""
        content = json.dumps({**self.head, "parts": self.parts}, indent=1) + "\n"
        for path in self.paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content.encode())


def is_of(path: Path, manifest: Mapping[str, Any], card: str) -> bool:
    """Whether a file is there and of this code and card."""
    kept = read(path) if path.is_file() else {}
    return kept.get("manifest") == dict(manifest) and kept.get("card", {}).get("card") == card


def read(path: Path) -> dict[str, Any]:
    """The content of a file.

    :raises BlurbError: if it is cut, or is no such file
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BlurbError("cannot be read as JSON", where=path, fix="copy it again.") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise BlurbError("no results of benchmarks.device", where=path)
    if content.get("version") != VERSION:
        raise BlurbError(
            f"version {content.get('version')} of the results, not {VERSION}", where=path
        )
    if lacking := [
        name for name in ("manifest", "card", "parts") if not isinstance(content.get(name), dict)
    ]:
        raise BlurbError(f"lacks its {' and '.join(lacking)}", where=path, fix="copy it again.")
    return content
