"""Rows by name, rows as files (ids, labels and a manifest), and what their answers show."""
