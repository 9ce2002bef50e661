"""Classification of a text; long ones are truncated at the end."""

from __future__ import annotations

from blurb.formulations._base import Classification, OneText


class TextClassification(OneText, Classification):
    """[CLS] text [SEP]."""
