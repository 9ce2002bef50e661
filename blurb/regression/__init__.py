"""The regression check: one function decides, and several renderers show its decision."""

from __future__ import annotations

from blurb.regression.decision import DatasetDecision, Decision, Outcome
from blurb.regression.judging import decide
from blurb.regression.rules import Rules, load

__all__ = ["DatasetDecision", "Decision", "Outcome", "Rules", "decide", "load"]
