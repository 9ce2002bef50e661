"""Classification: a text, and the one of k labels that it has. No dataset of BLURB is of this type."""

from blurb.tasks.types._type import TaskType, count_classes

TYPE = TaskType(
    short="Class",
    columns={"doc_id": "text", "text": "text", "label": "text"},
    formulation="blurb.formulations.classification:TextClassification",
    hub="text-classification",
    label_counts=count_classes,
    errors="blurb.extensions.reports.errors.classes:analyse",
    metric_keys=("negative", "positive"),
    metrics=("macro_f1",),
    sample_labels=("positive", "neutral", "negative"),
)
