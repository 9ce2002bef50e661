"""The input lengths of a trial, from cached features or from a sample that is tokenised now."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from blurb import formulations, tasks
from blurb.checkpoints.architecture import EncoderSize
from blurb.data.schema import Example
from blurb.execution.data_sources import load_data
from blurb.execution.job import Job, units_of
from blurb.formulations._base import Formulation
from blurb.inputs.features import Features
from blurb.inputs.tokenized_split import features_key, stored_lengths
from blurb.learners.base import Subset
from blurb.protocols.settings import Settings, example_limits

Ints = npt.NDArray[np.int64]
SAMPLE = 256
"""Sample size per split without cached features: the mean length is then known to about 3 %."""


@dataclass(frozen=True)
class InputLengths:
    """Sub-tokens per row of some examples, including special tokens.

    :param rows: (rows,) length of each
    :param unit: (rows,) index of its example; long examples have several rows
    :param units: number of examples
    :param exact: whether all examples were tokenised, and not a sample
    :param words: words of all examples, 0 if none are predicted
    :param seconds: seconds to tokenise them; 0 if they are cached
    """

    rows: Ints
    unit: Ints
    units: int
    exact: bool = True
    words: int = 0
    seconds: float = 0.0

    def of(self, chosen: Ints | None) -> Ints:
        """Lengths of the rows of the chosen examples; None for all."""
        return self.rows if chosen is None else self.rows[np.isin(self.unit, chosen)]


class Inputs:
    """Input lengths of trials, computed once for all trials with the same inputs."""

    def __init__(self) -> None:
        self._lengths: dict[tuple[object, ...], dict[tasks.Split, InputLengths]] = {}

    def of(self, job: Job, shape: EncoderSize) -> dict[tasks.Split, InputLengths]:
        """The lengths of train, dev and test, before sampling."""
        formulation = formulations.bind(load_data(job.data).task, job.trial.settings)
        longest = formulation.settings.max_length
        limit = min(longest, shape.most or longest)
        known = (
            job.data,
            job.source.location,
            job.source.casing,
            limit,
            str(sorted(formulation.options.items())),
        )
        if known not in self._lengths:
            self._lengths[known] = _lengths(job, formulation, limit)
        return self._lengths[known]

    def units(self, job: Job) -> dict[tasks.Split, InputLengths]:
        """The same for learners that read no sub-tokens: one row per example, of length 0."""
        known = (job.data, "", str(job.trial.settings.get("document_unit")))
        if known not in self._lengths:
            content = load_data(job.data)
            formulation = formulations.bind(content.task, job.trial.settings)
            lengths: dict[tasks.Split, InputLengths] = {}
            for split in tasks.SPLITS:
                rows, _ = units_of(formulation, content, split)
                numbers = np.arange(len(rows))
                lengths[split] = InputLengths(
                    np.zeros_like(numbers), numbers, len(rows), words=_words(rows)
                )
            self._lengths[known] = lengths
        return self._lengths[known]


def _words(rows: list[Example]) -> int:
    return sum(len(row["tokens"]) for row in rows if "tokens" in row)


def _lengths(job: Job, formulation: Formulation, limit: int) -> dict[tasks.Split, InputLengths]:
    content = load_data(job.data)
    units = {split: units_of(formulation, content, split) for split in tasks.SPLITS}
    tokenizer = job.source.checkpoint.tokenizer.extended(
        formulation.special_tokens(units["train"][0])
    )
    lengths: dict[tasks.Split, InputLengths] = {}
    for split, (rows, key) in units.items():
        words = _words(rows)
        stored = stored_lengths(features_key(key, tokenizer.hash, limit))
        if stored is not None:
            lengths[split] = InputLengths(*stored, len(rows), words=words)
            continue
        start = time.perf_counter()
        picked = np.linspace(0, len(rows), min(SAMPLE, len(rows)), endpoint=False).astype(np.int64)
        features = formulation.features([rows[i] for i in picked], tokenizer, limit)
        times = len(rows) / len(picked)
        lengths[split] = replicate(
            features, len(rows), words, seconds=(time.perf_counter() - start) * times
        )
    return lengths


def replicate(features: Features, units: int, words: int, seconds: float) -> InputLengths:
    """Extrapolates the lengths of a sample to all examples by repeating it.

    :param features: features of the sample, which has `features.example_index.max() + 1` examples
    """
    sample = int(features.example_index.max()) + 1
    unit = np.concatenate([features.example_index + start for start in range(0, units, sample)])
    rows = np.resize(features.ids.lengths, len(unit))
    inside = unit < units
    return InputLengths(rows[inside], unit[inside], units, units <= sample, words, seconds)


def drawn(lengths: InputLengths, most: int, seed: int) -> Ints | None:
    """The examples that a trial samples, drawn as the trial does; None for all."""
    chosen = Subset.draw(range(lengths.units), "", most, seed).chosen  # type: ignore[arg-type]
    return None if chosen is None else np.array(chosen)


def used(
    lengths: Mapping[tasks.Split, InputLengths], settings: Settings, seed: int
) -> dict[tasks.Split, Ints]:
    """The lengths of the rows that a trial reads from each split."""
    return {
        split: each.of(drawn(each, *example_limits(settings, split, seed)))
        for split, each in lengths.items()
    }
