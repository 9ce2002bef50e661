"""The score, the tables, and the published rows."""
