"""The most frequent answer of the training data, for all examples."""

from blurb.learners.kinds import EXAMPLES, ROWS, LearnerKind

LEARNER = LearnerKind(
    name="majority",
    summary="the most frequent answer of train",
    rows=ROWS,
    learner="blurb.learners.baselines.constants:Majority",
    seconds=1.0,
    settings=EXAMPLES,
    deterministic=True,
)
