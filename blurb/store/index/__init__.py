"""The index of a store, `<root>/.index/`: what views need of finished trials, so that their files need not be read.

Every process that finishes trials writes segments of its own (`segments`, `writer`), and readers take all of them
together (`union`); nothing is locked.
The folders stay the truth: an entry counts only while the folder is as it was when the entry was made (`entry`), and
trials without an entry are read from their folders. So the index may be deleted at any time; at worst it lags behind.
"""

from __future__ import annotations

from blurb.store.index.entry import Entry, TrialFacts
from blurb.store.index.union import Index, key_of, of

__all__ = ["Entry", "Index", "TrialFacts", "key_of", "of"]
