"""Featurizers of sequence tasks: how the vectors of an input become one."""
