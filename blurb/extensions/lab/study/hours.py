"""What the parts of a study take, in seconds: measured on parts of this kind of machine, or else by trials."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb.checkpoints.reading import hide_progress
from blurb.extensions.lab.pretraining import models, speed
from blurb.extensions.lab.pretraining.pretrain import ABOUT, machine, usual_precision
from blurb.extensions.lab.study import parts
from blurb.extensions.lab.study.conduct import Texts, missing
from blurb.extensions.lab.study.spec import Study, Variant
from blurb.system.files import read_json

ENDS = 30.0
"""Seconds of a pretraining that are no updates: its vocabulary is learnt, its quality measured. A rough figure."""
Scoring = Callable[[Path, str], float]
"""Folder of an encoder and a protocol -> the seconds that fine-tuning on the sets of the study is predicted to take."""


@dataclass(frozen=True)
class MissingPart:
    """A pretraining that has to be made.

    :param words: its budget, in words of text seen
    :param seconds: predicted, scoring included; None where nothing is known and there is no text for a trial
    """

    variant: str
    seed: int
    words: int
    seconds: float | None


class Forecast:
    """Predicts the seconds of pretrainings.

    :param texts: of the variants, for trials; None makes no trial
    :param scoring: predicts the seconds of scoring where no part tells them
    """

    def __init__(self, study: Study, out: Path, texts: Texts | None, scoring: Scoring) -> None:
        self._study, self._out, self._texts, self._scoring = study, out, texts, scoring
        self._tried: dict[object, float] = {}

    def seconds(self, variant: Variant) -> float | None:
        """Seconds of one more pretraining of a variant with its scoring, the longest measured ones; one that was begun
        counts as a whole."""
        there = list(self._there())
        pretrained = [facts["seen"]["seconds"] for other, facts in there if other == variant]
        scored = [
            sum(facts[parts.SCORING].values())
            for other, facts in there
            if _size(other) == _size(variant) and set(self._study.protocols) <= set(facts.get(parts.SCORING, ()))
        ]
        if self._texts is None and not (pretrained and scored):
            return None
        training = max(pretrained) + ENDS if pretrained else self._trial(variant)
        return training + (max(scored, default=None) or self._estimate(variant))

    def parts(self) -> list[MissingPart]:
        """The pretrainings that have to be made, in their order."""
        coming = missing(self._out, self._study)
        seconds = {name: self.seconds(variant) for name, variant in {each.name: each for each, _ in coming}.items()}
        return [MissingPart(each.name, seed, each.recipe.words, seconds[each.name]) for each, seed in coming]

    def _there(self) -> Iterator[tuple[Variant, Mapping[str, Any]]]:
        """The parts that are done and were made by a machine of this kind."""
        here, usual = machine(), usual_precision()
        for variant in self._study.variants:
            for seed in range(1, self._study.runs + 1):
                if parts.is_done(self._out, self._study, variant, seed):
                    facts = read_json(parts.place(self._out, variant, seed) / ABOUT)
                    if facts.get("machine") == here and facts.get("precision") == usual:
                        yield variant, facts

    def _trial(self, variant: Variant) -> float:
        assert self._texts is not None
        if variant.name not in self._tried:
            corpus, _ = self._texts.of(variant)
            rate = speed.words_per_second(corpus, variant.recipe) if variant.recipe.words else 1.0
            self._tried[variant.name] = ENDS + variant.recipe.words / (speed.SHARE * rate)
        return self._tried[variant.name]

    def _estimate(self, variant: Variant) -> float:
        """By the cost model, on the encoder as the pretraining begins with it: weights do not change what it takes."""
        assert self._texts is not None
        if _size(variant) not in self._tried:
            corpus, _ = self._texts.of(variant)
            hide_progress()
            model, tokenizer = models.build(corpus.texts, variant.recipe)
            with tempfile.TemporaryDirectory() as folder:
                model.save_pretrained(folder)
                tokenizer.save_pretrained(folder)
                seconds = sum(self._scoring(Path(folder), protocol) for protocol in self._study.protocols)
            self._tried[_size(variant)] = seconds
        return self._tried[_size(variant)]


def _size(variant: Variant) -> tuple[str, str, int]:
    """What decides how long fine-tuning takes: all but the vocabulary's cuts, which change it little."""
    return variant.recipe.size, variant.recipe.start, variant.recipe.vocabulary


def how_many_fit(coming: list[MissingPart], seconds: float) -> int:
    """How many of the first parts fit into a time; one of unknown length does not.

    >>> some = [MissingPart("a", 1, 5, 40.0), MissingPart("b", 1, 5, 70.0), MissingPart("a", 2, 5, 40.0)]
    >>> how_many_fit(some, 100), how_many_fit(some, 110), how_many_fit(some, 39)
    (1, 2, 0)
    """
    for count, part in enumerate(coming):
        seconds -= float("inf") if part.seconds is None else part.seconds
        if seconds < 0:
            return count
    return len(coming)
