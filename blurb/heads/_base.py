"""The interface of heads: from features to a loss in training, and to predictions afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from blurb.inputs.tagging import TaggingRules, tagging_rules

OutputKind = Literal["tokens", "single", "multi", "regression"]


@dataclass(frozen=True)
class Problem:
    """The prediction problem of a head.

    :param kind: "tokens": a tag per word; "single": one class; "multi": any of the classes; "regression": a number
    :param labels: tags or classes in the order of the outputs; one name for regression
    :param scheme: tagging scheme of the labels (`blurb.inputs.tagging`); None if the labels have none
    """

    kind: OutputKind
    labels: Sequence[str]
    scheme: str | None = None

    @property
    def rules(self) -> TaggingRules | None:
        """Which tag is allowed at which position; None if all are."""
        return None if self.scheme is None else tagging_rules(self.labels, self.scheme)


class Head(nn.Module, ABC):
    """Base class of heads, which work in float32 outside autocast.

    Shapes: token problems have features (batch, words, size), targets (batch, words) and a mask (batch, words); the
    others have features (batch, size), targets (batch,) or, for several labels, (batch, labels), and mask None. For
    these a head with `reads_sequence` gets all sub-tokens, (batch, pieces, size), and their mask (batch, pieces).

    Constructor parameters after `dropout`, all with defaults, are options: `--head name,option=value`.
    """

    kinds: tuple[OutputKind, ...] = ("tokens", "single", "multi", "regression")
    """The kinds of problems that a head supports."""
    reads_sequence = False
    """Whether the head reads all sub-tokens of sequence tasks, which then need no pooling."""

    def __init__(self, size: int, problem: Problem, dropout: float) -> None:
        super().__init__()
        self.size = size
        self.problem = problem
        self.dropout = nn.Dropout(dropout)

    @abstractmethod
    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
        """Sum of the losses of all terms, a scalar."""

    @abstractmethod
    def predict(self, features: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Predictions and scores.

        Token problems: tags (batch, words) and the probabilities of all tags (batch, words, tags), or of the predicted
        ones alone (batch, words), without which there is no log-loss. Single: classes (batch,) and probabilities
        (batch, labels). Multi: 0/1 (batch, labels) and probabilities. Regression: (batch,) twice.
        """

    def predict_windows(
        self, features: Tensor, mask: Tensor | None, inside: Tensor
    ) -> tuple[Tensor, Tensor]:
        """`predict` for token problems where some rows are windows of long sentences.

        :param inside: (batch, 2), whether a row begins and ends inside of its sentence, so that an entity may go on
            beyond it; heads that obey a tagging scheme leave first and last tags free there
        """
        return self.predict(features, mask)

    def check_targets(self, targets: Tensor, mask: Tensor | None) -> None:
        """Raises a ValueError for targets that the head cannot learn; always asked on a CPU, where nothing waits."""

    def num_targets(self, targets: Tensor, mask: Tensor | None) -> Tensor:
        """Number of terms in `loss`: words for token problems, else inputs (times labels for several labels).

        The training loop divides by it, so that micro-batches sum to the loss of the whole batch.
        """
        return torch.tensor(targets.numel()) if mask is None else mask.sum()
