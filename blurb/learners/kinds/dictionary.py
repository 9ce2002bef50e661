"""The mentions of train, found again word by word: how much of a score is memory."""

from blurb.learners.kinds import EXAMPLES, ROWS, LearnerKind

LEARNER = LearnerKind(
    name="dictionary",
    summary="the mentions of train, found again (NER and PICO)",
    rows=ROWS,
    learner="blurb.learners.baselines.dictionary:Dictionary",
    check="blurb.learners.baselines.dictionary:check",
    seconds=5.0,
    settings=EXAMPLES,
    deterministic=True,
)
