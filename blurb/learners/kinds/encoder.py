"""A pretrained encoder, fine-tuned with featurizer and head."""

from blurb.learners.kind import FINE_TUNING, LearnerKind, RowKind
from blurb.protocols.settings import in_groups

LEARNER = LearnerKind(
    name="encoder",
    summary="the encoder, fine-tuned with featurizer and head",
    rows=RowKind(
        "encoder", "a fine-tuned encoder", "", place=1, measures=FINE_TUNING, beside_papers=True
    ),
    learner="blurb.learners.finetuning.network:EncoderLearner",
    check="blurb.learners.finetuning.network:check",
    backward=True,
    save="blurb.learners.finetuning.saved_models:save",
    restore="blurb.learners.finetuning.saved_models:load",
    settings=in_groups("training", "model", "examples", "inputs", "large models"),
    reads_checkpoint=True,
    resumes=True,
    searches=True,
    on_device=True,
    precisions=True,
)
