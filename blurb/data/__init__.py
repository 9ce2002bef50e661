"""Datasets: reads the BLURB layout, verifies it against BLURB's releases, and describes it."""

from blurb.data.loading import TaskData, load_task, read_split

__all__ = ["TaskData", "load_task", "read_split"]
