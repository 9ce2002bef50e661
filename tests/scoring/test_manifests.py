"""`manifest.json` of requests, as whoever sends answers may have written it: read by fields, or refused by its name."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from blurb.messages import DataError
from blurb.scoring.requests import DIGITS, MANIFEST, Manifest, known

GOOD = Manifest(
    "gad", "test", "e" * 64, 0, "prompts", "p" * 64, 2, 1, ["a", "b"], {"yes": "1"}, 3, 40, 50, 60
)


def _written(folder: Path, content: Any) -> str:
    """Writes a manifest with the digits that fit it, whatever it has."""
    (folder / MANIFEST).write_text(
        json.dumps({"schema": 1, "requests": {"gad": content}}), encoding="utf-8"
    )
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:DIGITS]


def test_what_was_exported_is_found(tmp_path: Path) -> None:
    digits = _written(tmp_path, asdict(GOOD))
    assert digits == GOOD.digits
    assert known(digits, tmp_path) == GOOD
    assert known("00000000", tmp_path) is None


VALUES: dict[str, tuple[Any, ...]] = {
    "int": ("x", -1, True, 1.5, None, [1], {"a": 1}, 10**400),
    "str": (5, True, None, ["a"], {"a": 1}),
    "ScoredSplit": ("train", "x", 5, None),
    "Sequence[str]": (5, None, [1], [None]),
    "Mapping[str, str]": (5, None, "x", ["a"], {"a": 1}),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(one.name, value) for one in fields(Manifest) for value in VALUES[str(one.type)]],
)
def test_a_value_that_a_field_cannot_have_is_told_with_the_file(
    tmp_path: Path, name: str, value: Any
) -> None:
    digits = _written(tmp_path, {**asdict(GOOD), name: value})
    with pytest.raises(DataError, match=rf"{MANIFEST}: is no manifest of requests \(.*"):
        known(digits, tmp_path)


@pytest.mark.parametrize("content", [5, None, [], "x", {}, {**asdict(GOOD), "more": 1}])
def test_an_entry_that_is_none_is_told(tmp_path: Path, content: Any) -> None:
    digits = _written(tmp_path, content)
    with pytest.raises(DataError, match="is no manifest of requests"):
        known(digits, tmp_path)


def test_absent_and_unreadable_are_two_things(tmp_path: Path) -> None:
    assert known("00000000", tmp_path) is None
    (tmp_path / MANIFEST).write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{MANIFEST}: is no manifest of requests"):
        known("00000000", tmp_path)
    (tmp_path / MANIFEST).write_text('{"files": {}}', encoding="utf-8")  # of something else
    assert known("00000000", tmp_path) is None
