"""Declaration of a task type. Readers, statistics, tables and exports use it and never check the type's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Column = Literal["text", "texts", "span", "number"]
Examples = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class TaskType:
    """Columns of the examples, how the size of a split is counted, and references to the type's behaviour.

    References are texts `module:object`, imported on first use, because their packages lie above this one.
    """

    short: str
    """Heading of the column with the type's mean."""
    columns: Mapping[str, Column]
    """Columns of an example besides `id`. A name means the same in all types (`blurb.data.schema`)."""
    formulation: str
    """Reference to a `blurb.formulations.Formulation`."""
    hub: str
    """Task name on the Hugging Face Hub."""
    unit: str = "examples"
    """The unit of `size`."""
    size: Callable[[Examples], int] = len
    """The size of a split as Table 3 of the paper counts it."""
    label_counts: Callable[[Examples], Counter[str]] = lambda examples: Counter()
    """Frequency of each label in the gold answers, in `unit`; empty for a type without labels."""
    examples: str = ""
    """Plural noun for examples, if `unit` counts something else."""
    borders: bool = False
    """Whether tags mark where an entity begins (BIO), not only which words belong to one (I and O)."""
    errors: str = ""
    """Reference to `analyse(task, columns, units, train)`, the error analysis of a trial."""
    seen: str = ""
    """Reference to a `blurb.data.seen.SeenStrings`, by which answers are counted; "" without such figures."""
    submission: str = ""
    """Reference to `values(task, units)`: (id, value) pairs of a BLURB submission."""
    metric: str = "accuracy"
    """Default metric of a task file."""
    metric_labels: bool = False
    """Whether that metric takes the labels as an option."""
    metric_keys: tuple[str, ...] = ()
    """Keys of a task file that select or configure the metric: `negative`, `positive`, `scale`."""
    metrics: tuple[str, ...] = ()
    """Metrics that a task file may name instead of the default one; each takes the labels as an option."""
    formats: tuple[str, ...] = ("tsv", "csv", "jsonl")
    """File formats that a task file can use."""
    sample_labels: tuple[str, ...] = ()
    """Example labels in the template that `blurb tasks new` writes."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Columns that a task file's examples must have. Spans are not required: dummies in the text may mark them."""
        return tuple(
            name for name, column in self.columns.items() if name != "doc_id" and column != "span"
        )

    @property
    def has_labels(self) -> bool:
        """Whether tasks of this type declare labels."""
        return not {"tags", "label", "labels"}.isdisjoint(self.columns)


def count_classes(examples: Examples) -> Counter[str]:
    """Number of examples of each class."""
    return Counter(example["label"] for example in examples)
