"""Rows of results, from the store, tables or papers; the BLURB score; and comparisons of two rows."""

ACROSS = ("protocol", "recipe", "overrides", "unknown")
"""What a check may be told to pass over (`blurb check --across`)."""
