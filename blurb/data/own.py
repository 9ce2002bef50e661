"""Alias of `blurb.data.readers.task_file`, kept because the provenance of stored trials has the old name."""

from __future__ import annotations

from blurb.data.readers.task_file import read

__all__ = ["read"]
