"""Finished rows for others: submission, model cards, LaTeX, Markdown."""
