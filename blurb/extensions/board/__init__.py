"""Rows of strangers: their files are data, every figure is recomputed, and what is odd is told beside the row."""
