"""Takes what came back from a card into docs/results/device and docs/performance.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.device import cards, code, page
from benchmarks.device.results import COMPLETE, CUT, SKIPPED, read
from blurb.messages.errors import BlurbError
from blurb.system.files import write_whole


def merge(folder: Path, root: Path = code.ROOT, rehearsal: bool = False) -> list[str]:
    """Merges every results file of a folder; returns a line on each file, and on each part that is not whole.

    A file that is refused is told, and the others are merged. The parts of a card add up over several files of the same
    code; those of two cards never mix, as each card has a file of its own.

    :param root: of the repository
    :param rehearsal: results of `--small` count, which they do only where nobody reads them
    :raises BlurbError: if there are no results, or none that can be merged
    """
    paths = sorted(path for path in folder.rglob("*.json") if path.name != "manifest.json")
    if not paths:
        raise BlurbError(
            "no results there", where=folder, fix="give the folder that device.json came back to."
        )
    lines, merged = [], 0
    for path in paths:
        try:
            content = _accepted(path, root, rehearsal)
        except BlurbError as error:
            lines.append(f"Refused: {error}")
            continue
        merged += 1
        target = (
            root / "docs" / "results" / "device" / f"{cards.slug(content['card']['card'])}.json"
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        before = read(target) if target.is_file() else None
        write_whole(target, (json.dumps(_together(before, content), indent=1) + "\n").encode())
        lines.append(
            f"{path.name}: {content['card']['card']}, commit {content['manifest']['commit'][:8]}"
        )
        if before and (why := _other(before, content)):
            commit = before["manifest"]["commit"][:8]
            lines.append(f"  the figures of commit {commit} on such a card made room: {why}")
        lines += list(_incomplete(content))
    if not merged:
        raise BlurbError("Nothing was merged.\n" + "\n".join(lines))
    performance = root / "docs" / "performance.md"
    text = page.fill(performance.read_text(encoding="utf-8"), root / "docs" / "results" / "device")
    write_whole(performance, text.encode())
    return lines


def _accepted(path: Path, root: Path, rehearsal: bool) -> dict[str, Any]:
    """The content of a results file.

    :raises BlurbError: if it is damaged, a rehearsal, of a dirty tree, of other or changed code, or measured on no card
    """
    content = read(path)
    manifest = content["manifest"]
    if manifest.get("small") and not rehearsal:
        raise BlurbError(
            "a rehearsal, whose figures mean nothing",
            where=path,
            fix="pack and run without --small.",
        )
    if content["card"]["card"] == cards.CPU and not rehearsal:
        raise BlurbError("measured on no GPU", where=path, fix="run it where torch finds a card.")
    if manifest.get("dirty"):
        raise BlurbError(
            "packed with changes that no commit has", where=path, fix="commit, pack and run again."
        )
    if manifest.get("changed"):
        raise BlurbError(
            "made by code that was changed after packing",
            where=path,
            fix="unpack and run it again.",
        )
    code.check(root, manifest, path)
    return content


def _other(old: dict[str, Any], new: dict[str, Any]) -> str:
    """What differs between two files of a card, so that their figures cannot stand together; else an empty text."""
    if old["manifest"]["trees"] != new["manifest"]["trees"]:
        return "they are of other code"
    facts = {**old["card"], **new["card"]}
    changed = [name for name in facts if old["card"].get(name) != new["card"].get(name)]
    return f"they are of another machine ({', '.join(changed)})" if changed else ""


def _together(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """The parts that a card has, and the new ones; figures of other code, or of other libraries, make room."""
    if old is None or _other(old, new):
        return new
    parts = dict(old["parts"])
    for name, part in new["parts"].items():
        parts[name] = _added(parts[name], part) if name in parts else part
    return {**new, "parts": parts}


def _added(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The newer figures of a part beside the older ones; one that was not finished replaces none that was."""
    if old["state"] == COMPLETE and new["state"] != COMPLETE:
        return old
    cells = dict(old["cells"])
    for name, one in new["cells"].items():
        if name not in cells or cells[name].get("unfinished") or not one.get("unfinished"):
            cells[name] = one
    told = {name: why for name, why in {**old["told"], **new["told"]}.items() if name not in cells}
    return {**new, "cells": cells, "told": told}


def _incomplete(content: dict[str, Any]) -> Iterator[str]:
    """Sentences on parts that were cut off or skipped, and on measurements that failed."""
    for name, part in content["parts"].items():
        if part["state"] == SKIPPED:
            yield f"  {name}: skipped, {part['why']}"
        elif part["state"] == CUT:
            yield f"  {name}: cut off ({part['why']}); {len(part['cells'])} figures are kept"
        for cell, reason in part["told"].items():
            yield f"  {name}, {cell}: {reason}"
