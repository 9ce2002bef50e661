"""What every head does: features in, a loss in training, predictions afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torch import Tensor, nn

from blurb.inputs.tagging import Rules, rules

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["tokens", "single", "multi", "regression"]


@dataclass(frozen=True)
class Problem:
    """What a head has to predict.

    :param kind: "tokens": a tag a word; "single": one class; "multi": any of the classes; "regression": a number
    :param labels: tags or classes in the order of the outputs; one name for regression
    :param scheme: tagging scheme of the labels (`blurb.inputs.tagging`); None if they are no tags of one
    """

    kind: Kind
    labels: Sequence[str]
    scheme: str | None = None

    @property
    def rules(self) -> Rules | None:
        """Which tag may stand where; None where everything may."""
        return None if self.scheme is None else rules(self.labels, self.scheme)


class Head(nn.Module, ABC):
    """Base of the heads, which work in float32 outside autocast.

    Shapes: token problems have features (batch, words, size), targets (batch, words) and a mask (batch, words); the
    others have features (batch, size), targets (batch,) or, for several labels, (batch, labels), and mask None. A head
    that `reads_sequence` gets all sub-tokens of these, (batch, pieces, size), and their mask (batch, pieces).

    Parameters of the constructor after `dropout`, all with defaults, are options: `--head name,option=value`.
    """

    kinds: tuple[Kind, ...] = ("tokens", "single", "multi", "regression")
    """The problems that a head can serve."""
    reads_sequence = False
    """Takes all sub-tokens of an input where there are no words; the pooling is then out of use."""

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

        Token problems: tags (batch, words) and their probabilities (batch, words). Single: classes (batch,) and
        probabilities (batch, labels). Multi: 0/1 (batch, labels) and probabilities. Regression: (batch,) twice.
        """

    def terms(self, targets: Tensor, mask: Tensor | None) -> int:
        """How many terms `loss` adds up: words for token problems, else inputs (times labels for several labels).

        The loop divides by it, so that micro-batches add up to the loss of the whole batch.
        """
        return targets.numel() if mask is None else int(mask.sum())
