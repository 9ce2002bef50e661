"""What a formulation binds together: examples to features, head output to predictions, predictions to a score.

One file a task type, which its declaration names (`blurb.tasks.types`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from blurb import metrics
from blurb.data.schema import Example
from blurb.inputs.features import Features, Ragged
from blurb.inputs.tokenizer import Tokenizer
from blurb.metrics.counts import Counts, unit_counts
from blurb.protocols.settings import Settings
from blurb.tasks import Task

Array = npt.NDArray[Any]
Output = tuple[Sequence[Any], Sequence[list[float]] | None]
"""Predictions by name, one a unit, and the scores behind them."""


class Formulation(ABC):
    """How one task is put to an encoder, and how its predictions are scored.

    A *unit* is what is predicted at once and what a row of the stored predictions holds: a sentence, pair or question.

    :param task: the declaration
    :param settings: of the trial; the same object that the learner has
    """

    kind: ClassVar[Literal["tokens", "single", "multi", "regression"]]
    own_settings: ClassVar[tuple[str, ...]] = ()
    """Names of the settings that concern this task type and not every other."""
    pooled: ClassVar[bool] = True
    """Whether the encoder's output is pooled to one vector an input."""
    by_document: ClassVar[bool] = False
    """Whether documents are scored and not units."""
    has_entities: ClassVar[bool] = False
    """Whether the features say where two entities are."""
    has_pair: ClassVar[bool] = False
    """Whether inputs are two texts to compare, and the features say where they are."""
    vectors: ClassVar[tuple[str, ...]] = ("first", "mean", "max")
    """What a probe reads of an input (`blurb.models.frozen.Frozen.fill`); of token tasks it reads words."""

    def __init__(self, task: Task, settings: Settings) -> None:
        self.task = task
        self.settings = settings

    @property
    def options(self) -> dict[str, Any]:
        """The values of its own settings: with task and data they decide the units."""
        return {name: getattr(self.settings, name) for name in self.own_settings}

    @property
    def labels(self) -> Sequence[str]:
        """Names of the head's outputs, in order."""
        return self.task.labels

    @property
    def scheme(self) -> str | None:
        """The tagging scheme of the labels; None if they are no tags."""
        return None

    @property
    def has_markers(self) -> bool:
        """Whether the entities stand between markers."""
        return False

    @property
    def needs_original(self) -> bool:
        """Whether the examples must come from the original release; SettingsError if that could not serve either."""
        return False

    def special_tokens(self, units: Sequence[Example]) -> list[str]:
        """What the tokenizer must learn to read these units."""
        return []

    def units(self, examples: Iterable[Example]) -> list[Example]:
        """The units of a split."""
        return list(examples)

    @abstractmethod
    def features(self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int) -> Features:
        """What the encoder reads, for all units."""

    def frozen_features(self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int) -> Sequence[Features]:
        """What a frozen encoder reads of the units: their input, or several inputs that it reads apart."""
        return [self.features(units, tokenizer, max_length)]

    def joined(self, vectors: Sequence[Array]) -> Array:
        """One row an input from the vectors of each of `frozen_features`, (inputs, size) each."""
        return vectors[0]

    @abstractmethod
    def targets(self, units: Sequence[Example]) -> Array | Ragged:
        """What the head learns: (units,), (units, labels), or ragged (units, words)."""

    @abstractmethod
    def gold(self, unit: Example) -> Any:
        """The right answer of a unit, by name."""

    @abstractmethod
    def output(
        self, units: Sequence[Example], features: Features, predicted: Sequence[Array], scores: Sequence[Array]
    ) -> Output:
        """Predictions by name from the head's output, which has one item a row of `features`."""

    @abstractmethod
    def constants(self, train: Sequence[Example]) -> list[Any]:
        """Answers that need no reading, for `constant`: what the majority says first, then the other candidates."""

    def constant(self, answer: Any, unit: Example) -> Any:
        """A constant answer as the prediction of a unit."""
        return answer

    def score(self, gold: Sequence[Any], predicted: Sequence[Any], documents: Sequence[str | None]) -> dict[str, float]:
        """All figures of the task as fractions; the first is the one that counts.

        :param documents: the document of each unit, for tasks that are scored by document
        """
        return metrics.get(self.task.metric)(gold, predicted, **self.task.metric_options)

    def counts(
        self, gold: Sequence[Any], predicted: Sequence[Any], documents: Sequence[str | None]
    ) -> tuple[Counts, list[str | None]]:
        """What the score is a function of, summed over what is scored at once, (scored units, summands).

        Also the document of each, None where the source names none. `metrics.score_of` gives the score of any sums.
        """
        return unit_counts(self.task.metric, gold, predicted, self.task.metric_options), list(documents)

    def main_metric(self, figures: Mapping[str, float]) -> float:
        """The figure that counts, of those `score` returned."""
        return next(iter(figures.values()))


class Classification(Formulation):
    """One class a unit: what relations and questions share."""

    kind = "single"

    def targets(self, units: Sequence[Example]) -> Array:
        index = {label: i for i, label in enumerate(self.labels)}
        return np.array([index[unit["label"]] for unit in units], dtype=np.int64)

    def gold(self, unit: Example) -> str:
        return str(unit["label"])

    def output(
        self, units: Sequence[Example], features: Features, predicted: Sequence[Array], scores: Sequence[Array]
    ) -> Output:
        return [self.labels[int(label)] for label in predicted], [list(map(float, row)) for row in scores]

    def constants(self, train: Sequence[Example]) -> list[str]:
        common = [label for label, _ in Counter(unit["label"] for unit in train).most_common()]
        return common + [label for label in self.labels if label not in common]
