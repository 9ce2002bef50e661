"""Datasets: reads the BLURB layout, verifies it against BLURB's releases, and describes it."""

from __future__ import annotations

from blurb.data.loading import TaskData, load, read_split

__all__ = ["TaskData", "load", "read_split"]
