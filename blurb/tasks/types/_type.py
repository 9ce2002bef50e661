"""What a task type declares, once: readers, statistics, tables and exports ask it and never its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Column = Literal["text", "texts", "span", "number"]
Examples = Sequence[Mapping[str, Any]]


def _no_labels(examples: Examples) -> Counter[str]:
    return Counter()


@dataclass(frozen=True)
class TaskType:
    """The shape of the examples, how their number is counted, and where the behaviour of the type is written.

    Behaviour is named as `module:object` and imported when it is asked for, because it stands on higher floors.
    """

    short: str
    """Heading of its mean in tables."""
    columns: Mapping[str, Column]
    """Of an example, besides `id`. Their names have one meaning in every type (`blurb.data.schema`)."""
    formulation: str
    """A `blurb.formulations.Formulation`."""
    hub: str
    """What the Hugging Face Hub calls such a task."""
    unit: str = "examples"
    """What `size` counts."""
    size: Callable[[Examples], int] = len
    """The size of a split as Table 3 of the paper counts it."""
    label_counts: Callable[[Examples], Counter[str]] = _no_labels
    """How often each label is an answer, in `unit`; empty for a type without labels."""
    examples: str = ""
    """What an example is called, where `unit` is something smaller or larger."""
    borders: bool = False
    """Whether tags say where an entity begins (BIO), as against which words belong to any (I and O)."""
    errors: str = ""
    """`analyse(task, columns, units, train)`: the mistakes of a trial (`blurb.analysis.errors`)."""
    submission: str = ""
    """`values(task, units)`: pairs of id and value for BLURB's submission (`blurb.export.submission`)."""
    metric: str = "accuracy"
    """That of a task file, which gets the labels if `metric_labels`."""
    metric_labels: bool = False
    metric_keys: tuple[str, ...] = ()
    """Keys of a task file that say more of the metric: `negative`, `positive`, `scale`."""
    formats: tuple[str, ...] = ("tsv", "jsonl")
    """How a task file can have its examples written."""
    sample_labels: tuple[str, ...] = ()
    """Of the template that `blurb tasks new` writes."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that every example of a task file must have; spans may be found by dummies in the text."""
        return tuple(name for name, column in self.columns.items() if name != "doc_id" and column != "span")

    @property
    def has_labels(self) -> bool:
        """Whether a task of the type declares labels."""
        return not {"tags", "label", "labels"}.isdisjoint(self.columns)
