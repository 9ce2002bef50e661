"""Tests of rows as files, by their names, and of their answers."""
