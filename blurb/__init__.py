"""blurb: fine-tunes any encoder on the thirteen BLURB datasets and reports the macro-averaged score."""

__version__ = "0.1.0"
