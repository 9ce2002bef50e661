"""Requests: checked as a whole, and turned into trials."""
