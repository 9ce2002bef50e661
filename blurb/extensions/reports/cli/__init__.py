"""Commands of the extension reports."""
