"""`attention-general`: `attention-dot` with a learned matrix between (Luong et al., arXiv 1508.04025, "general")."""

from __future__ import annotations

from torch import Tensor, nn

from blurb.heads.pooling.attention_dot import AttentionDot


class AttentionGeneral(AttentionDot):
    """Sum of the last layer weighted by softmax((W m) . h / sqrt(size)), m the mean over the input, without padding."""

    def __init__(self, size: int, cls: int | None) -> None:
        super().__init__(size, cls)
        self.inner = nn.Linear(size, size, bias=False)

    def query(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """(batch, size)."""
        query: Tensor = self.inner(super().query(hidden, mask))
        return query


POOLING = AttentionGeneral
