"""The constant answer that scores best on the training data."""

from blurb.learners.kinds import EXAMPLES, ROWS, LearnerKind

LEARNER = LearnerKind(
    name="constant",
    summary="the constant answer that scores best on train",
    rows=ROWS,
    learner="blurb.learners.baselines.constants:Constant",
    seconds=1.0,
    settings=EXAMPLES,
    recipe=2,
    deterministic=True,
)
