"""One file a format: the BLURB layout, LinkBERT's, and what task files describe."""
