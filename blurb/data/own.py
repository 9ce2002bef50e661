"""The old name of `blurb.data.readers.task_file`, which stands in the provenance of stored trials."""

from __future__ import annotations

from blurb.data.readers.task_file import read

__all__ = ["read"]
