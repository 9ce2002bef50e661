"""One declaration a kind of learner: `LEARNER` of each module. A new kind is one more file, here or in a plug-in."""

from blurb.learners.kind import LearnerKind as LearnerKind, RowKind
from blurb.protocols.settings import in_groups

ROWS = RowKind("baseline", "a baseline", "baselines", place=3, measures="", lower_bound=True)
EXAMPLES = (*in_groups("examples"), "document_unit")
"""The settings that choose and cut examples, of which alone a constant answer depends."""
NETWORK = (*in_groups("training", "model", "examples", "inputs"), "min_count")
"""The settings of a network with a vocabulary of its own."""
