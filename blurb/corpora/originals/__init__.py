"""Readers of original releases that have more than the BLURB layout.

The BLURB files of ChemProt and DDI have dummies in place of the entities; the originals have text and spans.
"""
