"""A Transformer with random weights and a vocabulary of the training texts."""

from blurb.learners.kinds import NETWORK, ROWS, LearnerKind

LEARNER = LearnerKind(
    name="transformer",
    summary="Transformer, from scratch",
    rows=ROWS,
    learner="blurb.learners.baselines.networks:Transformer",
    check="blurb.learners.baselines.networks:check",
    save="blurb.learners.baselines.networks:save",
    restore="blurb.learners.baselines.networks:load",
    settings=NETWORK,
    backward=True,
    resumes=True,
    own_training=True,
    on_device=True,
)
