"""Arrays in, figures out: tests, bootstrap, corrections. Knows no file and no model."""
