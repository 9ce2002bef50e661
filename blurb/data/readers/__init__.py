"""Readers, one module per file format: BLURB's layout, LinkBERT's, and the formats of task files."""
