"""Analyses of finished runs: kinds of mistakes, ablations."""
