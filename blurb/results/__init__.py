"""Rows of results, from the store, tables or papers; the BLURB score; and comparisons of two rows."""

ACROSS = ("protocol", "recipe", "overrides", "unknown")
"""Differences that a check can be told to pass over (`blurb check --across`)."""
