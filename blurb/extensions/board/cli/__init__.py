"""Commands of the extension board."""
