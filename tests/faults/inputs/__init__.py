"""Files that somebody, or something, has changed: every reader meets random changes, drawn by a seed."""
