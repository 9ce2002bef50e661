"""Plots with Matplotlib, in one style."""
