"""Relation extraction: a text with two entities, and the class of their relation."""

from blurb.tasks.types._type import TaskType, count_classes

TYPE = TaskType(
    short="RE",
    columns={"doc_id": "text", "text": "text", "head": "span", "tail": "span", "label": "text"},
    formulation="blurb.formulations.relation:Relation",
    hub="text-classification",
    label_counts=count_classes,
    errors="blurb.extensions.reports.errors.classes:analyse",
    seen="blurb.data.seen:Pairs",
    submission="blurb.extensions.reports.export.formats.submission:label",
    metric_keys=("negative", "positive"),
    sample_labels=("interacts", "none"),
)
