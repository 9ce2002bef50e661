"""Question answering: a question, a context, and the class of the answer."""

from blurb.tasks.types._type import TaskType, count_classes

TYPE = TaskType(
    short="QA",
    columns={"question": "text", "context": "text", "label": "text"},
    formulation="blurb.formulations.qa:Qa",
    hub="question-answering",
    label_counts=count_classes,
    errors="blurb.extensions.reports.errors.classes:analyse",
    submission="blurb.extensions.reports.export.formats.submission:label",
    metric_keys=("positive",),
    sample_labels=("yes", "no"),
)
