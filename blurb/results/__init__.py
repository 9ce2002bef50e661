"""Rows of results, from the store, tables or papers; the BLURB score; and comparisons of two rows."""
