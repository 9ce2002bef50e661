"""The regression check: one function decides, and several renderers show its decision."""

from __future__ import annotations

from blurb.regression.decision import Decision, Finding, Outcome, decide
from blurb.regression.rules import Rules, load

__all__ = ["Decision", "Finding", "Outcome", "Rules", "decide", "load"]
