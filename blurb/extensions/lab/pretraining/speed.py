"""How many words an hour of this machine reads."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from blurb.extensions.lab.pretraining import models, packing
from blurb.extensions.lab.pretraining.corpus import PretrainingCorpus
from blurb.extensions.lab.pretraining.inputs import PretrainingInputs
from blurb.extensions.lab.pretraining.pretrain import PLAN
from blurb.extensions.lab.pretraining.recipe import Recipe
from blurb.system.files import read_json

WARM_UP, SECONDS = 3.0, 6.0
"""Kernels for new shapes are made in the first seconds."""
SHARE = 0.95
"""Of the time is for updates; the rest for checkpoints and the measurement at the end."""


def for_hours(out: Path, corpus: PretrainingCorpus, recipe: Recipe, hours: float) -> Recipe:
    """The recipe with the words that are read in some hours.

    A pretraining that goes on keeps the words of its start: another trial would give others.
    """
    if (out / PLAN).is_file():
        return replace(recipe, words=int(read_json(out / PLAN)["recipe"]["words"]))
    return replace(recipe, words=max(1, round(SHARE * hours * 3600 * words_per_second(corpus, recipe))))


def words_per_second(corpus: PretrainingCorpus, recipe: Recipe) -> float:
    """Measured on updates of a model that is thrown away."""
    import torch

    from blurb.extensions.lab.pretraining.objective import loss
    from blurb.extensions.lab.pretraining.trainer import collate
    from blurb.training.hardware import has_bf16

    model, tokenizer = models.build(corpus.texts, recipe)
    texts = packing.enough(corpus.texts, 0, recipe.seed)
    inputs = PretrainingInputs(packing.stream(texts, tokenizer), replace(recipe, words=10**9), tokenizer)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    updates, started = 0, time.monotonic()
    middle = inputs.updates // 2  # where a rising mask rate has its mean
    begun = started
    while time.monotonic() - started < WARM_UP + SECONDS or not updates:
        if time.monotonic() - started < WARM_UP:
            updates, begun = 0, time.monotonic()
        batch = {name: value.to(device) for name, value in collate(inputs.update(middle + updates)).items()}
        torch.autograd.backward(loss(model, batch, has_bf16(device)))
        optimizer.step()
        optimizer.zero_grad()
        updates += 1
    return updates * inputs.words_per_update / (time.monotonic() - begun)
