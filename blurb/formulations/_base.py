"""The interface of formulations: from examples to features, from head output to predictions, and to a score.

There is one module per task type, which the type's declaration names (`blurb.tasks.types`).

The score of always predicting the most frequent answer, as a baseline.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from blurb import formulations, metrics
from blurb.data.schema import Example, input_texts
from blurb.inputs.features import Features, Ragged
from blurb.inputs.texts import encode_texts
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages import SettingsError, opt
from blurb.protocols.settings import Settings, Where, show_setting
from blurb.tasks import Task

Array = npt.NDArray[Any]
Arrays = Sequence[Array]
Documents = Sequence[str | None]
"""The document of each unit, for tasks scored by document."""
Output = tuple[Sequence[Any], Sequence[list[float]] | None]
"""One prediction per unit, as label names, and the scores behind them."""
RAREST = float(np.finfo(np.float32).eps)
"""Probabilities are clipped to it and 1 - it, as scikit-learn clips those in float32."""


class Formulation(ABC):
    """How an encoder reads the examples of a task, and how predictions are scored.

    A *unit* is an example as the model predicts it, one row of the stored predictions: a sentence, pair or question,
    or several examples joined (`units`).

    :param task: the task
    :param settings: settings of the trial, shared with the learner
    """

    kind: ClassVar[Literal["tokens", "single", "multi", "regression"]]
    own_settings: ClassVar[tuple[str, ...]] = ()
    """Names of the settings that concern this task type but not all others."""
    pooled: ClassVar[bool] = True
    """Whether the encoder's output is pooled to one vector per input."""
    by_document: ClassVar[bool] = False
    """Whether scores count documents instead of units."""
    has_entities: ClassVar[bool] = False
    """Whether the features have the positions of two entities."""
    has_pair: ClassVar[bool] = False
    """Whether inputs are two texts to compare, and the features have their positions."""
    loss: ClassVar[Literal["log_loss", "squared_error"]] = "log_loss"
    """The kind of values in `losses`."""
    vectors: ClassVar[tuple[str, ...]] = ("first", "mean", "max")
    """Vectors of an input that a probe reads (`blurb.learners.frozen`); token tasks have one per word."""

    def __init__(self, task: Task, settings: Settings) -> None:
        self.task = task
        self.settings = settings

    @property
    def options(self) -> dict[str, Any]:
        """Values of `own_settings`; with task and data they determine the units."""
        return {name: getattr(self.settings, name) for name in self.own_settings}

    @property
    def labels(self) -> Sequence[str]:
        """Names of the head's outputs, in order."""
        return self.task.labels

    @property
    def scheme(self) -> str | None:
        """The tagging scheme of the labels; None if they are not tags."""
        return None

    @property
    def has_markers(self) -> bool:
        """Whether the text has markers around the entities."""
        return False

    def check_head(self, kinds: Collection[str] | None, where: Where) -> None:
        """Raises a SettingsError if a head is not for tasks of this kind.

        :param kinds: that the head supports; None if that is not known
        :param where: origin of the settings, for the message
        """
        if kinds is not None and self.kind not in kinds:
            raise SettingsError(
                f"The head {show_setting(self.settings, 'head', where)} does not support {{task}} ({{kind}})",
                fix=f"see blurb heads, or choose tasks that it supports: {opt('tasks', 'ner,pico')}.",
                task=self.task.name,
                kind=self.kind,
            )

    @property
    def needs_original(self) -> bool:
        """Whether examples must come from the original release; SettingsError if even that lacks the text."""
        return False

    def special_tokens(self, units: Sequence[Example]) -> list[str]:
        """Special tokens to add to the tokenizer for these units."""
        return []

    def units(self, examples: Iterable[Example]) -> list[Example]:
        """Converts the examples of a split to units."""
        return list(examples)

    def texts(self, units: Sequence[Example]) -> list[list[str]]:
        """The texts that the tokenizer gets: one for each unit, or two lists, the first and the second of each pair."""
        return [list(part) for part in zip(*map(input_texts, units), strict=True)]

    @abstractmethod
    def features(self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int) -> Features:
        """Encodes all units as inputs of the encoder."""

    def frozen_features(
        self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int
    ) -> Sequence[Features]:
        """Encodes all units for a frozen encoder, as one input per unit or as several that are read separately."""
        return [self.features(units, tokenizer, max_length)]

    def joined(self, vectors: Arrays) -> Array:
        """Combines the vectors of the `frozen_features`, each (inputs, size), to one row per input."""
        return vectors[0]

    @abstractmethod
    def targets(self, units: Sequence[Example]) -> Array | Ragged:
        """Training targets: (units,), (units, labels), or ragged (units, words)."""

    @abstractmethod
    def gold(self, unit: Example) -> Any:
        """The gold answer of a unit, as label names."""

    @abstractmethod
    def output(
        self, units: Sequence[Example], features: Features, predicted: Arrays, scores: Arrays
    ) -> Output:
        """Converts the head's output, one item per row of `features`, to label names."""

    def losses(
        self, units: Sequence[Example], features: Features, scores: Arrays
    ) -> Sequence[float] | None:
        """How far the head's scores are from the gold answers: a sum over the terms of each unit, (units,).

        :param scores: one item per row of `features`, as `output` gets them
        :returns: None if the scores are not the probabilities of all answers
        """
        return None

    def terms(self, gold: Any) -> int:
        """Number of terms in the loss of a unit: words of a tagged sentence, labels of a document, else 1."""
        return 1

    def mean_loss(self, gold: Sequence[Any], losses: Sequence[float]) -> float:
        """The mean over all terms of some units."""
        return float(np.sum(losses, dtype=np.float64) / max(1, sum(map(self.terms, gold))))

    @abstractmethod
    def constants(self, train: Sequence[Example]) -> list[Any]:
        """Constant answers as baselines, for `constant`: the majority answer first, then all other candidates."""

    def constant(self, answer: Any, unit: Example) -> Any:
        """A constant answer as prediction for a unit."""
        return answer

    def unit_of(self, gold: Any) -> Example | None:
        """A unit of which only the gold answer is known, as `constants` and `constant` need; None if they need more."""
        return None

    def best_constant(self, gold: Sequence[Any], documents: Documents) -> float | None:
        """The best score, as a fraction, of one answer for all units with these gold answers; None if unknown.

        :param documents: document of each unit, for tasks scored by document
        """
        units = [unit for answer in gold if (unit := self.unit_of(answer)) is not None]
        if not units or len(units) < len(gold):
            return None
        units = [
            {**unit, "doc_id": document} for unit, document in zip(units, documents, strict=True)
        ]
        answers = (
            [self.constant(answer, unit) for unit in units] for answer in self.constants(units)
        )
        return max(
            self.main_metric(self.score(gold, predicted, documents)) for predicted in answers
        )

    def check_size(self, count: int) -> None:
        """Raises a SettingsError if that many scored units are too few for the metric."""
        if count < 2 and metrics.get(self.task.metric).correlation:
            raise SettingsError(
                f"A correlation needs at least two pairs of a split (got {count})",
                where=self.task.name,
                fix=f"score more: {opt('limit')}, max_eval and dev_sample are at least 2, or 0 for all.",
            )

    def score(
        self, gold: Sequence[Any], predicted: Sequence[Any], documents: Documents
    ) -> dict[str, float]:
        """All metrics of the task as fractions; the first is the score.

        :param documents: document of each unit, for tasks scored by document
        """
        self.check_size(len(gold))
        return metrics.get(self.task.metric)(gold, predicted, **self.task.metric_options)

    def counts(
        self, gold: Sequence[Any], predicted: Sequence[Any], documents: Documents
    ) -> tuple[metrics.Counts, Documents]:
        """The counts whose sums determine the score, (scored units, summands), and the document of each scored unit.

        A document is None if the source does not name it. `Metric.score` computes the score from sums.
        """
        counts = metrics.get(self.task.metric).counts(gold, predicted, **self.task.metric_options)
        return np.asarray(counts, dtype=np.float64), list(documents)

    def main_metric(self, figures: Mapping[str, float]) -> float:
        """The score, among the metrics that `score` returned."""
        return next(iter(figures.values()))

    def score_of(self, units: Sequence[Any], predicted: Sequence[Any]) -> float:
        """The score of the predictions for some units, as a fraction."""
        return self.main_metric(
            self.score(
                [self.gold(unit) for unit in units],
                predicted,
                [unit.get("doc_id") for unit in units],
            )
        )


def log_loss(probabilities: Array) -> Array:
    """The log-loss of answers with these probabilities, in nats."""
    return -np.log(np.clip(np.asarray(probabilities, np.float64), RAREST, 1 - RAREST))


class OneText(Formulation):
    """A text per unit; long ones are truncated at the end."""

    def features(self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int) -> Features:
        return encode_texts([unit["text"] for unit in units], tokenizer, max_length)


class Classification(Formulation):
    """One class per unit, for relations, questions and texts."""

    kind = "single"

    def targets(self, units: Sequence[Example]) -> Array:
        index = {label: i for i, label in enumerate(self.labels)}
        return np.array([index[unit["label"]] for unit in units], dtype=np.int64)

    def gold(self, unit: Example) -> str:
        return str(unit["label"])

    def unit_of(self, gold: str) -> Example:
        return {"label": gold}

    def output(
        self, units: Sequence[Example], features: Features, predicted: Arrays, scores: Arrays
    ) -> Output:
        return [self.labels[int(label)] for label in predicted], [
            list(map(float, row)) for row in scores
        ]

    def losses(
        self, units: Sequence[Example], features: Features, scores: Arrays
    ) -> Sequence[float] | None:
        return [
            float(log_loss(row[gold]))
            for row, gold in zip(scores, self.targets(units), strict=True)
        ]

    def constants(self, train: Sequence[Example]) -> list[str]:
        common = dict(Counter(unit["label"] for unit in train).most_common())
        return [*(common | dict.fromkeys(self.labels, 0))]


def majority_score(task: Task, train: Sequence[Example], rows: Sequence[Example]) -> float:
    """The task's score, as a fraction, of always predicting the most frequent answer of train."""
    formulation = formulations.bind(task)
    answer = formulation.constants(formulation.units(train))[0]
    units = formulation.units(rows)
    return float(
        formulation.score_of(units, [formulation.constant(answer, unit) for unit in units])
    )
