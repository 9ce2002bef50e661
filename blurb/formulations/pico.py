"""PICO: token classification, scored by word; runs of one label are spans in training, as the files have no `B-`."""

from blurb.formulations._tokens import TokenTagging


class Pico(TokenTagging):
    """Word-level F1 of participants, interventions and outcomes, and their mean (the score)."""
