"""How tasks are fine-tuned: the settings of a trial, and the TOML files that give them values."""
