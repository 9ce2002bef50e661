"""How features become predictions. A head is a file here, an entry point in `blurb.heads`, or `package:Class`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blurb.registry import Registry

if TYPE_CHECKING:
    from blurb.heads._base import Head
    from blurb.heads.pooling._base import Pooling

heads: Registry[type[Head]] = Registry("head", "blurb.heads", "HEAD", "blurb.heads")
poolings: Registry[type[Pooling]] = Registry("pooling", "blurb.heads.pooling", "POOLING", "blurb.poolings")

__all__ = ["heads", "poolings"]
