"""What a check may pass over."""

ACROSS = ("protocol", "recipe", "overrides", "unknown")
"""Differences that a check can be told to pass over (`blurb check --across`)."""
