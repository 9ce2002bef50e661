"""The regression check: one function decides, and several renderers show its decision."""

from blurb.regression.decision import DatasetDecision, Decision, Outcome
from blurb.regression.judging import decide_check
from blurb.regression.rules import Rules, load_rules

__all__ = ["DatasetDecision", "Decision", "Outcome", "Rules", "decide_check", "load_rules"]
