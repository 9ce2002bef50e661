"""Linear models of words and pairs of words, with scikit-learn."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from blurb.learners.kinds import EXAMPLES, ROWS, LearnerKind
from blurb.protocols.settings import in_groups

if TYPE_CHECKING:
    from blurb.formulations._base import Formulation


def unused(formulation: Formulation) -> Collection[str]:
    """Settings without effect: words that have tags are read one by one, all else as a whole."""
    others = {"ngrams", "min_count"} if formulation.kind == "tokens" else {"head", "window"}
    return others | ({"min_count"} if formulation.has_pair else set())


LEARNER = LearnerKind(
    name="bigrams",
    summary="linear models of words and pairs of words",
    rows=ROWS,
    learner="blurb.learners.baselines.ngrams:Bigrams",
    check="blurb.learners.baselines.ngrams:check",
    seconds=15.0,
    settings=(*EXAMPLES, "head", "tagging", "relation_input", *in_groups("n-grams")),
    unused=unused,
    deterministic=True,
)
