"""Where examples come from: readers of the BLURB layout, verification, the synthetic demo suite."""

from __future__ import annotations

from blurb.data.load import TaskData, load, load_original
from blurb.data.read import read_split

__all__ = ["TaskData", "load", "load_original", "read_split"]
