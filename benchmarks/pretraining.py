"""Masked language modelling as `blurb pretrain` does it, and as transformers' Trainer does it by itself.

    python -m benchmarks.pretraining [--seconds 20] [--size mini] [--length 128]

Both see random words and learn with the same optimizer: ours predicts at masked places only, without the fused
attention kernel; theirs is `DataCollatorForLanguageModeling` and the model's own loss over all places, with `sdpa`.
Blocks of the two alternate, and processor time is counted, so that other work on the machine weighs on both alike.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

from blurb.checkpoints.scratch import SPECIAL
from blurb.extensions.lab.pretraining import pretrain
from blurb.extensions.lab.pretraining.inputs import PretrainingInputs, Stream
from blurb.extensions.lab.pretraining.recipe import Recipe
from blurb.extensions.lab.pretraining.trainer import loss
from blurb.training.hardware import has_bf16

BLOCK = 10
"""Updates of one of the two before it is the other's turn."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of processor time for each of the two"
    )
    parser.add_argument("--size", default="mini")
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print("entries  ours tokens/s  Trainer's  ratio")
    for entries in (8_000, 30_000):
        recipe = Recipe(size=given.size, length=given.length, vocabulary=entries, words=10**8)
        ours, theirs = updates(recipe)
        spent = {ours: 0.0, theirs: 0.0}
        counts = {ours: 0, theirs: 0}
        for each in (ours, theirs):  # kernels for new shapes are made in the first updates
            run(each)
        while min(spent.values()) < given.seconds:
            each = min(spent, key=lambda one: spent[one])
            spent[each] += run(each)
            counts[each] += BLOCK
        speeds = [
            counts[each] * recipe.batch * recipe.length / spent[each] for each in (ours, theirs)
        ]
        print(f"{entries:7,}  {speeds[0]:13,.0f}  {speeds[1]:9,.0f}  {speeds[0] / speeds[1]:5.2f}")


def run(update: Callable[[], None]) -> float:
    """Processor seconds of a block of updates."""
    started = time.process_time()
    for _ in range(BLOCK):
        update()
    return time.process_time() - started


def updates(recipe: Recipe) -> tuple[Callable[[], None], Callable[[], None]]:
    """An update of each."""
    from transformers import (
        BertTokenizerFast,
        DataCollatorForLanguageModeling,
        default_data_collator,
    )

    entries = [*SPECIAL, *(f"w{number}" for number in range(recipe.vocabulary - len(SPECIAL)))]
    tokenizer = BertTokenizerFast(vocab={entry: number for number, entry in enumerate(entries)})
    draws = np.random.default_rng(0).zipf(1.2, size=1_000_000) % (
        recipe.vocabulary - len(SPECIAL)
    ) + len(SPECIAL)
    every = np.ones(len(draws), dtype=np.bool_)
    inputs = PretrainingInputs(
        Stream(draws, every, every.astype(np.int64), int(tokenizer.sep_token_id)), recipe, tokenizer
    )
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=recipe.mask_rate)
    place, bf16 = [0, 0], has_bf16(torch.device("cpu"))

    def rows(which: int) -> range:
        place[which] += recipe.batch
        return range(place[which] - recipe.batch, place[which])

    sparse, dense = (pretrain.from_nothing(recipe, tokenizer) for _ in range(2))
    sparse.set_attn_implementation("eager")
    steps = [torch.optim.AdamW(model.parameters(), fused=True) for model in (sparse, dense)]

    def ours() -> None:
        step(steps[0], loss(sparse, default_data_collator([inputs[row] for row in rows(0)]), bf16))

    def theirs() -> None:
        texts = [
            {"input_ids": [2, *draws[inputs.slices[row % len(inputs.slices)]].tolist(), 3]}
            for row in rows(1)
        ]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            value = dense(**collator(texts)).loss
        step(steps[1], value)

    return ours, theirs


def step(optimizer: torch.optim.Optimizer, value: torch.Tensor) -> None:
    value.backward()
    optimizer.step()
    optimizer.zero_grad()


if __name__ == "__main__":
    main()
