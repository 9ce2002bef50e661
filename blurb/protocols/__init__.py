"""The settings of a trial, and the protocols: TOML files with their values."""
