"""Heads turn features into predictions. A head is a module here, an entry point in `blurb.heads`, or `package:Class`.

To write one, use `from blurb.heads import Head, Problem, Pooling`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from blurb.registry import Registry

if TYPE_CHECKING:
    from blurb.heads._base import Head, Problem
    from blurb.heads.pooling._base import Pooling

heads: Registry[type[Head]] = Registry(
    "head", "blurb.heads", "HEAD", "blurb.heads", "blurb.heads:Head", classes=True
)
poolings: Registry[type[Pooling]] = Registry(
    "pooling",
    "blurb.heads.pooling",
    "POOLING",
    "blurb.poolings",
    "blurb.heads:Pooling",
    classes=True,
)

OF_TAGS = ("bilstm-crf", "crf")
"""Built-in heads for tags alone; their classes say so as well, but need torch."""

__all__ = ["Head", "Pooling", "Problem", "heads", "poolings"]
_CONTRACTS = {
    "Head": "blurb.heads._base",
    "Problem": "blurb.heads._base",
    "Pooling": "blurb.heads.pooling._base",
}


def __getattr__(name: str) -> Any:
    """Imports the base classes lazily: they need torch, which listing the names does not."""
    if name not in _CONTRACTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_CONTRACTS[name]), name)
