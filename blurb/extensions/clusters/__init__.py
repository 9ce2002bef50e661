"""Engines of clusters: Slurm and Ray."""
