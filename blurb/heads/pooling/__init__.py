"""Featurizers of sequence tasks: from the vectors of all sub-tokens to one vector per input."""
