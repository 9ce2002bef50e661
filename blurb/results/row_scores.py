"""Forwards the former name of `Row`."""

from blurb.results.row import Row as RowScores

__all__ = ["RowScores"]
