"""Commands of the extension series."""
