"""Times the linear chain against pytorch-crf: negative log-likelihood forward and backward, and the best path.

Run from the root of the repository: `OMP_NUM_THREADS=2 python -m benchmarks.crf`. Same inputs for both, in turns,
so that what else the machine does meets both; a ratio is that of the fastest runs.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torchcrf import CRF

from blurb.heads.linear_chain_crf import model, partition
from blurb.heads.linear_chain_crf.model import Chain
from blurb.heads.linear_chain_crf.partition import tree

BATCH = 32
THREADS = 2
REPEATS = 30
SIZES = ((32, 3), (128, 3), (256, 3), (64, 5), (256, 5), (128, 11), (256, 11))  # words, tags


def inputs(words: int, tags: int) -> tuple[Tensor, Tensor, Tensor]:
    """Emissions, tags and mask of sequences between half of `words` and all of them."""
    torch.manual_seed(1)
    lengths = torch.randint(words // 2, words + 1, (BATCH,))
    lengths[0] = words
    mask = torch.arange(words) < lengths[:, None]
    return (
        torch.randn(BATCH, words, tags, requires_grad=True),
        torch.randint(tags, (BATCH, words)),
        mask,
    )


def pair(tags: int) -> tuple[Chain, CRF]:
    """The same weights twice."""
    ours, theirs = Chain(tags), CRF(tags, batch_first=True)
    for one, other in zip(
        ours.parameters(),
        (theirs.start_transitions, theirs.transitions, theirs.end_transitions),
        strict=True,
    ):
        torch.nn.init.normal_(one)
        other.data.copy_(one.data)
    return ours, theirs


def best_times(*functions: Callable[[], object]) -> list[float]:
    """Milliseconds of the fastest run of each."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(REPEATS):
        for function, found in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            found.append(1e3 * (time.perf_counter() - start))
    return [min(found) for found in times]


def measure(words: int, tags: int) -> dict[str, float]:
    """Milliseconds of both, after a check that they agree."""
    emissions, gold, mask = inputs(words, tags)
    ours, theirs = pair(tags)
    chosen = model.log_partition

    def train(algorithm: Callable[..., Tensor]) -> None:
        model.log_partition = algorithm
        (-ours.log_likelihood(emissions, gold, mask)).sum().backward()

    found = ours.log_likelihood(emissions, gold, mask).sum()
    torch.testing.assert_close(found, theirs(emissions, gold, mask=mask), rtol=1e-4, atol=1e-2)
    their, our, steps, levels = best_times(
        lambda: (-theirs(emissions, gold, mask=mask)).backward(),
        lambda: train(chosen),
        lambda: train(partition.sequential),
        lambda: train(tree),
    )
    model.log_partition = chosen
    with torch.no_grad():
        best = ours.decode(emissions, mask)
        other = torch.zeros_like(best)
        for row, path in enumerate(theirs.decode(emissions, mask)):
            other[row, : len(path)] = torch.tensor(path)
        # Equal paths, or two that float32 cannot tell apart.
        exact = copy.deepcopy(ours).double()
        scores = [exact.log_likelihood(emissions.double(), path, mask) for path in (best, other)]
        torch.testing.assert_close(*scores, rtol=0, atol=1e-3)
        slow, fast = best_times(
            lambda: theirs.decode(emissions, mask), lambda: ours.decode(emissions, mask)
        )
    return {
        "pytorch-crf ms": their,
        "ours ms": our,
        "ratio": their / our,
        "sequential ms": steps,
        "tree ms": levels,
        "pytorch-crf Viterbi ms": slow,
        "ours Viterbi ms": fast,
        "Viterbi ratio": slow / fast,
    }


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"torch {torch.__version__}, batch {BATCH}, {THREADS} threads; milliseconds")
    for words, tags in SIZES:
        found = measure(words, tags)
        print(
            f"T {words:3} K {tags:2}: "
            + ", ".join(f"{name} {value:.1f}" for name, value in found.items()),
            flush=True,
        )


if __name__ == "__main__":
    main()
