"""The index of a store, `<root>/.index/`: what views need of finished trials, so that their files need not be read.

It is a cache of its readers: one file (`segments`), which a reader that met many trials without an entry replaces as a
whole (`cache`). Workers write none, and nothing is locked: of two that write, the later one counts.
The folders stay the truth: an entry counts only while the folder is as it was when the entry was made (`entry`), and
trials without an entry are read from their folders. So the index may be deleted at any time; at worst it lags behind.
"""

from __future__ import annotations

from blurb.store.index.cache import Index, key_of, of
from blurb.store.index.entry import IndexEntry, TrialFacts

__all__ = ["Index", "IndexEntry", "TrialFacts", "key_of", "of"]
