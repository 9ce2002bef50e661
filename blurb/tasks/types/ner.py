"""Named entity recognition: words with BIO tags, scored by exact spans. The size of a split counts entities."""

from __future__ import annotations

from collections import Counter

from blurb.tasks.types._type import Examples, TaskType


def entities(examples: Examples) -> Counter[str]:
    """Number of entities of each type: `B-` tags."""
    return Counter(
        tag[2:] for example in examples for tag in example["tags"] if tag.startswith("B-")
    )


TYPE = TaskType(
    short="NER",
    columns={"doc_id": "text", "tokens": "texts", "tags": "texts"},
    formulation="blurb.formulations.ner:Ner",
    hub="token-classification",
    unit="entities",
    size=lambda examples: entities(examples).total(),
    label_counts=entities,
    examples="sentences",
    borders=True,
    errors="blurb.extensions.reports.errors.entities:analyse",
    seen="blurb.data.seen:Mentions",
    submission="blurb.extensions.reports.export.formats.submission:ner",
    metric="entity_f1",
    formats=("conll", "jsonl"),
    sample_labels=("Gene",),
)
