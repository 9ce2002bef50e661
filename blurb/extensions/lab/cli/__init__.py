"""Commands of the extension lab."""
