"""Probes: linear models on the vectors of a frozen encoder."""
