"""Exports of finished rows: submission, model cards, LaTeX, Markdown."""
