"""The terms of Table 1 of Gu et al., by which a tokenizer is looked at."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def published() -> Mapping[str, Mapping[str, str]]:
    """Term -> vocabulary -> its pieces in the paper, joined by hyphens."""
    text = (files("blurb.checkpoints") / "terms.csv").read_text(encoding="utf-8")
    return {line.pop("term"): line for line in csv.DictReader(text.splitlines())}
