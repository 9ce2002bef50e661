"""Models to compare encoders with: constant answers, and models that are trained on the task alone.

Each is imported when it is asked for, as scikit-learn takes a second to load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from blurb.registry import load_object

if TYPE_CHECKING:
    from blurb.formulations._base import Formulation
    from blurb.models._base import Learner


@dataclass(frozen=True)
class Baseline:
    """A baseline of `blurb run baseline:NAME`.

    :param target: its learner, `module:class`
    :param summary: what it does, for `blurb models`
    """

    target: str
    summary: str

    def learner(self, formulation: Formulation) -> Learner:
        """The learner, bound to a task."""
        made: Learner = load_object(self.target, "baseline")(formulation)
        return made


BASELINES = {
    "majority": Baseline("blurb.models.baselines.constants:Majority", "the most frequent answer of train"),
    "constant": Baseline("blurb.models.baselines.constants:Constant", "the constant answer that scores best on train"),
    "bigrams": Baseline("blurb.models.baselines.bigrams:Bigrams", "linear models of words and pairs of words"),
}
"""By name, the simplest first."""
