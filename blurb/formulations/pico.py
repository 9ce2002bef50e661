"""PICO: runs of one label become spans for training, as the files carry no `B-`; scored by word."""

from __future__ import annotations

from blurb.formulations._tokens import TokenTagging


class Pico(TokenTagging):
    """Word-level F1 of participants, interventions and outcomes, and their mean."""
