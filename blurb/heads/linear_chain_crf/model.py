"""The linear chain as a module: likelihood of tags, best path, marginal probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from blurb.heads.linear_chain_crf.partition import (
    Potentials,
    forward_backward,
    log_partition,
    partial_scores,
    reverse_sequences,
)
from blurb.inputs.tagging import TaggingRules

BARRED = 1e9
"""Subtracted from the emissions of tags that may not be first or last: more than any path can win."""


class Chain(nn.Module):
    """Scores of first tags, adjacent tags and last tags, in float32 (or float64) outside autocast.

    In all methods emissions are (batch, words, tags) and mask is (batch, words), True for words, padding on the right;
    otherwise they raise a ValueError (`checks.py`).

    :param tags: number of tags
    :param rules: what the tagging scheme allows; None allows everything. Decoding and marginals always follow it
    :param constrained: whether training follows it, too, for transitions only: a window may start or end inside an
        entity, so first and last tags are free
    """

    learning_rate_scale = 100.0
    """AdamW changes a weight by about the learning rate per step; an encoder's 5e-5 would leave these scores near 0."""

    def __init__(
        self, tags: int, rules: TaggingRules | None = None, constrained: bool = False
    ) -> None:
        super().__init__()
        self.constrained = constrained
        self.rules = rules
        self.start_transitions = nn.Parameter(torch.zeros(tags))
        self.transitions = nn.Parameter(torch.zeros(tags, tags))
        self.end_transitions = nn.Parameter(torch.zeros(tags))
        for name in Potentials._fields:
            shape = self.get_parameter(name).shape
            allowed = (
                torch.ones(shape, dtype=torch.bool)
                if rules is None
                else torch.from_numpy(getattr(rules, name))
            )
            if allowed.shape != shape:
                raise ValueError(
                    f"the rules have shape {tuple(allowed.shape)} for {name}; the chain needs {tuple(shape)}."
                )
            self.register_buffer(f"no_{name}", ~allowed, persistent=False)

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Log-probability of the tags, (batch,).

        :param tags: (batch, words); arbitrary in the padding
        :raises ValueError: also if training is constrained and the tags violate the rules; on a card, which would have
            to be waited for, nothing is said of values
        """
        check(emissions, mask, tags)
        if tags.device.type == "cpu":
            self.check_tags(tags, mask)
        with torch.autocast(emissions.device.type, enabled=False):
            emissions = _mask_emissions(emissions, mask)
            potentials = self._potentials(("transitions",) if self.constrained else ())
            return _score_of_path(emissions, potentials, tags, mask) - log_partition(
                emissions, potentials, mask
            )

    def check_tags(self, tags: Tensor, mask: Tensor) -> None:
        """Raises a ValueError if training is constrained and tags, on a CPU, violate the rules."""
        if not self.constrained or self.rules is None:
            return
        allowed = torch.from_numpy(self.rules.transitions)
        inside = tags.masked_fill(~mask, 0)
        broken = (~allowed[inside[:, :-1], inside[:, 1:]] & mask[:, 1:]).any(1)
        if broken.any():
            row = int(broken.nonzero()[0])
            raise ValueError(
                f"the tags of sequence {row} violate the tagging scheme: {tags[row][mask[row]].tolist()}."
            )

    @torch.no_grad()
    def decode(self, emissions: Tensor, mask: Tensor, inside: Tensor | None = None) -> Tensor:
        """The most probable allowed tags, (batch, words); 0 in the padding.

        :param inside: (batch, 2), whether a sequence begins and ends inside of a longer one: its first and last tag may
            be any then; None if none does
        """
        check(emissions, mask)
        with torch.autocast(emissions.device.type, enabled=False):
            emissions = _mask_emissions(emissions, mask, shift=False)
            tags, possible = viterbi(*self._at_edges(emissions, mask, inside), mask)
        if not possible.all():
            row = int((~possible).nonzero()[0])
            raise ValueError(
                f"the rules allow no tag sequence for sequence {row} with {int(mask[row].sum())} words."
            )
        return tags

    @torch.no_grad()
    def marginals(self, emissions: Tensor, mask: Tensor, inside: Tensor | None = None) -> Tensor:
        """Probability of every tag at every word under the rules, (batch, words, tags); 0 in the padding.

        :param inside: as of `decode`
        """
        check(emissions, mask)
        with torch.autocast(emissions.device.type, enabled=False):
            emissions, potentials = self._at_edges(_mask_emissions(emissions, mask), mask, inside)
            forward, backward, _ = forward_backward(emissions, potentials, mask)
            found = (forward + backward - emissions).softmax(-1)
        return found.masked_fill(~mask.unsqueeze(-1), 0)

    def _at_edges(
        self, emissions: Tensor, mask: Tensor, inside: Tensor | None
    ) -> tuple[Tensor, Potentials]:
        """Emissions and potentials that forbid first and last tags only where a sequence does not go on."""
        if inside is None:
            return emissions, self._potentials()
        rows, last = torch.arange(len(mask), device=mask.device), mask.sum(1) - 1
        barred = torch.zeros_like(emissions, dtype=torch.bool)
        barred[:, 0] = ~inside[:, :1] & self.get_buffer("no_start_transitions")
        barred[rows, last] |= ~inside[:, 1:] & self.get_buffer("no_end_transitions")
        # Not -inf: marginals subtract emissions.
        return emissions - BARRED * barred, self._potentials(("transitions",))

    def _potentials(self, obeyed: Sequence[str] = Potentials._fields) -> Potentials:
        """The scores, -inf for what the rules forbid of those that obey them."""
        return Potentials(
            *(
                self.get_parameter(name).masked_fill(self.get_buffer(f"no_{name}"), -torch.inf)
                if name in obeyed
                else self.get_parameter(name)
                for name in Potentials._fields
            )
        )


def _mask_emissions(emissions: Tensor, mask: Tensor, shift: bool = True) -> Tensor:
    """The emissions in at least float32, and 0 in the padding.

    Shifting all tags of a word does not change probabilities; near 0 the sums are more precise.
    """
    wide = emissions if emissions.dtype == torch.float64 else emissions.float()
    if shift:
        wide = wide - wide.detach().logsumexp(-1, keepdim=True)
    return wide.masked_fill(~mask.unsqueeze(-1), 0)


def _score_of_path(emissions: Tensor, potentials: Potentials, tags: Tensor, mask: Tensor) -> Tensor:
    """Score of the path `tags`, (batch,)."""
    start_transitions, transitions, end_transitions = potentials
    tags = tags.masked_fill(~mask, 0)
    # (batch,); emissions are 0 in the padding
    words = emissions.gather(-1, tags.unsqueeze(-1)).squeeze(-1).sum(1)
    # (batch, words - 1)
    moves = transitions.flatten()[tags[:, :-1] * len(start_transitions) + tags[:, 1:]]
    # (batch,): the tag of the last real word
    last = tags.gather(1, mask.sum(1, keepdim=True) - 1).squeeze(1)
    return (
        words
        + moves.masked_fill(~mask[:, 1:], 0).sum(1)
        + start_transitions[tags[:, 0]]
        + end_transitions[last]
    )


def check(emissions: Tensor, mask: Tensor, tags: Tensor | None = None) -> None:
    """Checks shapes, and on a CPU values: a card would have to be waited for in every step.

    :raises ValueError: if shapes do not match, a sequence is empty, the mask has a gap, scores are not finite, or a tag
        is out of range; the message has the shapes and the first position
    """
    if (
        emissions.ndim != 3
        or mask.shape != emissions.shape[:2]
        or (tags is not None and tags.shape != mask.shape)
    ):
        raise ValueError(
            "shapes must be emissions (batch, words, tags), mask and tags (batch, words); "
            f"got {_shapes_text(emissions, mask, tags)}."
        )
    if mask.dtype != torch.bool:
        raise ValueError(
            f"the mask must be torch.bool (got {mask.dtype}): {_shapes_text(emissions, mask, tags)}."
        )
    if mask.numel() == 0:
        raise ValueError(f"an empty sequence or batch: {_shapes_text(emissions, mask, tags)}.")
    if emissions.device.type != "cpu":
        return
    size = emissions.shape[-1]
    troubles = {
        "sequence {} is empty (its first word is masked)": ~mask[:, 0],
        "the mask has a gap before [sequence, word] {}": pad(mask[:, 1:] & ~mask[:, :-1], (1, 0)),
        "the emissions are not finite at [sequence, word, tag] {}": ~emissions.isfinite()
        & mask.unsqueeze(-1),
    }
    if tags is not None:
        troubles[f"the tag at [sequence, word] {{}} is not in 0..{size - 1}"] = (
            (tags < 0) | (tags >= size)
        ) & mask
    for message, trouble in troubles.items():
        if trouble.any():
            place = trouble.nonzero()[0].tolist()
            raise ValueError(f"{message.format(place)}: {_shapes_text(emissions, mask, tags)}.")


def _shapes_text(emissions: Tensor, mask: Tensor, tags: Tensor | None) -> str:
    shapes = f"emissions {tuple(emissions.shape)}, mask {tuple(mask.shape)}"
    return shapes if tags is None else f"{shapes}, tags {tuple(tags.shape)}"


def viterbi(emissions: Tensor, potentials: Potentials, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The best paths, and whether there is one.

    The best partial paths from the start and from the end of a sequence meet in its middle, which halves the number of
    steps in both passes.

    :param emissions: (batch, words, tags), finite also in the padding
    :returns: tags (batch, words), 0 in the padding; (batch,) False if the potentials forbid every path
    """
    batch, words, tags = emissions.shape
    rows = torch.arange(batch, device=mask.device)
    lengths = mask.sum(1)
    # (steps, 2, batch, tags)
    states = partial_scores(emissions, potentials, mask, words // 2 + 1, torch.amax)
    steps = torch.arange(len(states), device=mask.device)
    middle = (lengths - 1) // 2
    # (2, batch): the same word, counted from both ends
    meeting = torch.stack([middle, lengths // 2])
    both = (
        states[meeting, torch.arange(2, device=mask.device).unsqueeze(1), rows].sum(0)
        - emissions[rows, middle]
    )
    best, tag = both.max(-1, keepdim=True)  # (batch, 1)
    # Which tag came before each tag; beyond the middle a path stands still.
    moves = torch.stack([potentials.transitions.t(), potentials.transitions]).unsqueeze(1)
    before = (states[:-1].unsqueeze(-2) + moves).max(-1).indices  # (steps - 1, 2, batch, tags)
    beyond = steps[1:, None, None] > meeting
    before = torch.where(beyond.unsqueeze(-1), torch.arange(tags, device=mask.device), before)
    tag = tag.expand(2, batch, 1)
    path = [tag]
    for pointers in reversed(before.unbind(0)):
        tag = pointers.gather(-1, tag)
        path.append(tag)
    halves = torch.cat(path[::-1], -1)  # (2, batch, steps): from each end towards the middle
    halves = pad(halves, (0, words - len(states)))
    first = torch.arange(words, device=mask.device) <= middle.unsqueeze(-1)
    return torch.where(first, halves[0], reverse_sequences(halves[1], mask)).masked_fill(
        ~mask, 0
    ), best.squeeze(-1) > -torch.inf
