"""Baselines: what a score is worth, without a pretrained encoder."""
