"""Examples: reading the BLURB layout, what they hold, whether they are BLURB's."""

from __future__ import annotations

from blurb.data.loading import TaskData, load
from blurb.data.splits import read_split

__all__ = ["TaskData", "load", "read_split"]
