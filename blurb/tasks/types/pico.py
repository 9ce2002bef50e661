"""PICO: words with the tags I-PAR, I-INT, I-OUT or O (no B-), scored by word."""

from __future__ import annotations

from collections import Counter

from blurb.tasks.types._type import Examples, TaskType


def labelled_words(examples: Examples) -> Counter[str]:
    """Number of words of each label."""
    return Counter(tag[2:] for example in examples for tag in example["tags"] if tag != "O")


TYPE = TaskType(
    short="PICO",
    columns={"doc_id": "text", "tokens": "texts", "tags": "texts"},
    formulation="blurb.formulations.pico:Pico",
    hub="token-classification",
    unit="labelled words",
    size=lambda examples: labelled_words(examples).total(),
    label_counts=labelled_words,
    examples="sentences",
    errors="blurb.extensions.reports.errors.entities:analyse",
    seen="blurb.data.seen:Words",
    submission="blurb.extensions.reports.export.formats.submission:pico",
    metric="token_macro_f1",
    metric_labels=True,
    formats=("conll", "jsonl"),
    sample_labels=("PAR", "INT", "OUT"),
)
