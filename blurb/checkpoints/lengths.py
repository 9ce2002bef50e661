"""Tokenizes a split with a checkpoint's tokenizer, by the code that makes the features for training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blurb import formulations
from blurb.checkpoints.source import ModelSource
from blurb.data.schema import Example
from blurb.inputs.tokenized_split import Read, TokenizedSplit
from blurb.messages import SettingsError, opt
from blurb.tasks import Task

NO_LIMIT = 10**7


def reader(source: ModelSource) -> Read:
    """A function that tokenizes a split for this checkpoint, up to the maximum length of the task or encoder.

    :raises SettingsError: for a baseline, which has no tokenizer
    """
    if not source.is_checkpoint:
        raise SettingsError(
            f"{opt('model', source.name)}: a baseline has no tokenizer", fix="name a checkpoint."
        )
    tokenizer, most = source.checkpoint.tokenizer, source.checkpoint.size.most

    def read(task: Task, rows: Sequence[Example]) -> TokenizedSplit:
        formulation = formulations.bind(task)
        units = formulation.units(rows)
        limit = min(task.max_length, most or task.max_length)
        whole = formulation.features(units, tokenizer, NO_LIMIT)
        # Only inputs that are too long are made again: an input does not depend on its neighbours.
        long = np.flatnonzero(whole.ids.lengths > limit).tolist()
        return TokenizedSplit(
            whole,
            limit,
            long,
            formulation.features([units[i] for i in long], tokenizer, limit),
            (len(tokenizer.special_tokens.prefix), len(tokenizer.special_tokens.suffix)),
        )

    return read
