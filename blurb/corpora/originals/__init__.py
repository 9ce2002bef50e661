"""Readers of the corpora as their authors released them, where the BLURB layout has lost something.

The BLURB files of ChemProt and DDI hold dummies in the place of the entities; the originals hold text and spans.
"""
