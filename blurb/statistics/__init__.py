"""Statistics on arrays: tests, bootstrap, corrections; independent of files and models."""
