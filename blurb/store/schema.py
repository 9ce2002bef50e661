"""The version of the files of a store, in one file of its root: `store.json`, which is read before any lease is taken.

A store of another version is refused, and never rewritten. One with rows and without that file is of before version 1.
"""

from __future__ import annotations

from pathlib import Path

from blurb.messages.errors import StoreError
from blurb.system.files import read_json, write_json

SCHEMA = 1
FILE = "store.json"
CONVERT = "rewrite it once with python -m benchmarks.to_schema_1, in a clone of blurb's repository."
UPDATE = "update blurb, as a newer one wrote it."


def check(root: Path) -> None:
    """Raises a StoreError for a store of another version; a folder without trials may become one of this."""
    path = root / FILE
    if not path.exists():
        if any(root.glob("*/rows/*.json")):
            raise StoreError(f"a store of before schema {SCHEMA} (it has no {FILE})", where=root, fix=CONVERT)
        return
    version = read_json(path).get("schema")
    if type(version) is not int or version < SCHEMA:
        raise StoreError(f"no schema version of a store (got {str(version)[:20]!r})", where=path, fix=CONVERT)
    if version > SCHEMA:
        raise StoreError(
            f"a store of schema version {version}; this version of blurb reads {SCHEMA}", where=root, fix=UPDATE
        )


def begin(root: Path) -> None:
    """Makes a folder a store of this version; StoreError if it is one of another."""
    check(root)
    if not (root / FILE).exists():
        root.mkdir(parents=True, exist_ok=True)
        write_json(root / FILE, {"schema": SCHEMA})
