"""A frozen encoder, and one deterministic fit of a linear model on its vectors."""

from blurb.learners.kind import LearnerKind, RowKind
from blurb.protocols.settings import in_groups

LEARNER = LearnerKind(
    name="probe",
    summary="a linear model on the vectors of the frozen encoder",
    rows=RowKind(
        "probe",
        "a probe",
        "probes",
        place=2,
        measures="frozen encoders",
        paired=True,
        mark="probe",
        heading="Probes of frozen encoders",
        about="A probe is a linear fit on the vectors of a frozen encoder. It shows whether a checkpoint is broken, "
        "how much of a task a linear model can read from it, and which score fine-tuning must exceed. It does not show "
        "which of two encoders is better after fine-tuning: encoders that differ by ten points and more after "
        "fine-tuning had probes one point apart. Therefore probes are listed separately from fine-tuned rows.",
    ),
    learner="blurb.learners.frozen.probe:ProbeLearner",
    check="blurb.learners.frozen.probe:check",
    settings=(*in_groups("examples", "inputs"), "head", "word_pooling"),
    reads_checkpoint=True,
    refuses=True,
    deterministic=True,
    on_device=True,
    precisions=True,
)
