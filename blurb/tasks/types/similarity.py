"""Sentence similarity: two texts and a score."""

from blurb.tasks.types._type import TaskType

TYPE = TaskType(
    short="STS",
    columns={"text_a": "text", "text_b": "text", "score": "number"},
    formulation="blurb.formulations.similarity:Similarity",
    hub="sentence-similarity",
    unit="sentence pairs",
    errors="blurb.extensions.reports.errors.classes:similarity",
    submission="blurb.extensions.reports.export.formats.submission:similarity",
    metric="pearson",
    metric_keys=("scale",),
)
