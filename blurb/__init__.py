"""blurb: fine-tunes any encoder on the thirteen BLURB datasets and writes the macro-averaged score."""

__version__ = "0.1.0"
