"""The regression check: one function decides, every renderer shows its answer."""

from __future__ import annotations

from blurb.leaderboard.gate.decide import Decision, Finding, Outcome, decide
from blurb.leaderboard.gate.rules import Rules, load

__all__ = ["Decision", "Finding", "Outcome", "Rules", "decide", "load"]
