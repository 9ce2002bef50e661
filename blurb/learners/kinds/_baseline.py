"""What the kinds that need no checkpoint have in common: their rows show what a score is worth."""

from blurb.learners.kind import RowKind
from blurb.protocols.settings import in_groups

ROWS = RowKind("baseline", "a baseline", "baselines", place=3, measures="", lower_bound=True)
EXAMPLES = (*in_groups("examples"), "document_unit")
"""The settings that choose and cut examples, of which alone a constant answer depends."""
NETWORK = (*in_groups("training", "model", "examples", "inputs"), "min_count")
"""The settings of a network with a vocabulary of its own."""
