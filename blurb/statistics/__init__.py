"""Statistics on arrays: tests, bootstrap, corrections; independent of files and models."""

RESAMPLES = 10_000
"""Draws of the bootstrap and of permutation tests; here, as some who need it need no arrays."""
