"""Makes the parts of a study that are not there yet: pretrain, score, keep the rows, throw the encoder away.

The seconds that they take are measured on parts of this kind of machine, or else by trials.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from blurb.checkpoints.reading import hide_progress
from blurb.extensions.lab.pretraining import pretrain, request
from blurb.extensions.lab.pretraining.recipe import ABOUT
from blurb.extensions.lab.study import parts
from blurb.extensions.lab.study.parts import WORK
from blurb.extensions.lab.study.spec import Study, Variant
from blurb.results.row import Row
from blurb.row_files import writing as row_files
from blurb.system import leases
from blurb.system.files import new_folder, read_json, write_json

Score = Callable[[Path | str, str, str, Path], Row]
"""Fine-tunes an encoder: its folder (or a baseline), the name of its row, the protocol, the store -> the row."""


class Texts:
    """The texts of the variants, each read once.

    :param data: data folder: what dev and test have is kept out of every text
    """

    def __init__(self, data: Path, raw: Path | None = None) -> None:
        self._read = cache(partial(request.corpus, data=data, raw=raw))

    def of(self, variant: Variant) -> tuple[request.PretrainingCorpus, Mapping[str, Any]]:
        """The documents of a variant, and what the card says of them."""
        return self._read(tuple(variant.text), tuple(variant.mix), version=variant.recipe.version)


def missing(out: Path, study: Study) -> list[tuple[Variant, int]]:
    """The pretrainings that have to be made, all variants of a seed before the next: so a study that is stopped early
    compares all of them, with fewer runs."""
    left = [pair for pair in study.pretrainings if not parts.is_done(out, study, *pair)]
    return sorted(left, key=lambda pair: pair[1])


def conduct(
    study: Study,
    out: Path,
    texts: Texts,
    score: Score,
    progress: bool = True,
    fits: Callable[[Variant], bool] = lambda variant: True,
) -> Iterator[tuple[Variant, int]]:
    """Makes what is missing, a pretraining after the other; yields each that is done.

    Any number of processes, of any machines that share the folder, may do so at once: each part is made by that which
    has its lease.

    :param fits: whether there is time for a pretraining of a variant; the first for which there is none ends it
    """
    while True:
        busy: list[Path] = []
        for floor in study.floors:
            busy += _floor(study, floor, out, score)
        for variant, seed in missing(out, study):
            leased = _lease_of(out, parts.place(out, variant, seed))
            with leases.trying(leased) as lease:
                if lease is None:
                    busy.append(leased)
                if lease is None or parts.is_done(out, study, variant, seed):
                    continue
                if not fits(variant):
                    return
                _make(study, variant, seed, out, texts.of(variant), score, progress, lease.check)
            yield variant, seed
        # The lease of a machine that is gone is free after two minutes of looks; living processes go on without us.
        if not busy or len(leases.wait_for_stale(busy)) == len(busy):
            return


def _lease_of(out: Path, place: Path) -> Path:
    (out / WORK).mkdir(parents=True, exist_ok=True)
    return out / WORK / f"{place.name}.lease"


def _make(
    study: Study,
    variant: Variant,
    seed: int,
    out: Path,
    text: tuple[request.PretrainingCorpus, Mapping[str, Any]],
    score: Score,
    progress: bool,
    still_mine: Callable[[], None],
) -> None:
    target = parts.place(out, variant, seed)
    parts.check_text(out, study, variant, text[0].hash)
    work = out / WORK / target.name
    encoder = pretrain.pretrain(work / "pretrained", text[0], variant.run(seed), text[1], progress)
    seconds = {}
    for protocol in study.protocols:
        if not parts.has_row(target / protocol, study):
            started = time.monotonic()
            row = score(encoder, target.name, protocol, work / "runs")
            seconds[protocol] = round(time.monotonic() - started, 1)
            still_mine()
            _keep(row, target / protocol)
    still_mine()
    write_json(target / ABOUT, {**read_json(encoder / ABOUT), parts.SCORING: seconds})
    shutil.rmtree(work)


def _floor(study: Study, floor: str, out: Path, score: Score) -> list[Path]:
    """Scores a baseline unless its row is there; returns the lease if another process makes it."""
    target = parts.floor_place(out, study, floor)
    if parts.has_row(target, study):
        return []
    leased = _lease_of(out, target.parent)
    with leases.trying(leased) as lease:
        if lease is None:
            return [leased]
        if not parts.has_row(target, study):
            work = out / WORK / target.parent.name
            row = score(floor, floor, study.protocols[0], work)
            lease.check()
            _keep(row, target)
            shutil.rmtree(work)
    return []


def _keep(row: Row, target: Path) -> None:
    """Writes a row as files, whole; an earlier one without all datasets goes."""
    if target.is_dir():
        shutil.rmtree(target)
    with new_folder(target) as aside:
        aside.mkdir(parents=True)
        for name, content in row_files.files(row).items():
            (aside / name).write_bytes(content)


ENDS = 30.0
"""Seconds of a pretraining that are no updates: its vocabulary is learnt, its quality measured. A rough figure."""


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
    :param scoring: predicts the seconds of fine-tuning an encoder in a folder by a protocol, where no part tells them
    """

    def __init__(
        self, study: Study, out: Path, texts: Texts | None, scoring: Callable[[Path, str], float]
    ) -> None:
        self._study, self._out, self._texts, self._scoring = study, out, texts, scoring
        self._tried: dict[object, float] = {}

    def seconds(self, variant: Variant) -> float | None:
        """Seconds of one more pretraining of a variant with its scoring, the longest measured ones; one that was begun
        counts as a whole."""
        here = pretrain.machine(), pretrain.usual_precision()
        done = [
            (each, read_json(parts.place(self._out, each, seed) / ABOUT))
            for each, seed in self._study.pretrainings
            if parts.is_done(self._out, self._study, each, seed)
        ]
        there = [
            (each, facts)
            for each, facts in done
            if (facts.get("machine"), facts.get("precision")) == here
        ]
        pretrained = [facts["seen"]["seconds"] for other, facts in there if other == variant]
        scored = [
            sum(facts[parts.SCORING].values())
            for other, facts in there
            if _size(other) == _size(variant)
            and set(self._study.protocols) <= set(facts.get(parts.SCORING, ()))
        ]
        if self._texts is None and not (pretrained and scored):
            return None
        training = max(pretrained) + ENDS if pretrained else self._trial(variant)
        return training + (max(scored, default=None) or self._estimate(variant))

    def parts(self) -> list[MissingPart]:
        """The pretrainings that have to be made, in their order."""
        coming = missing(self._out, self._study)
        seconds = {
            each.name: self.seconds(each) for each in {v.name: v for v, _ in coming}.values()
        }
        return [
            MissingPart(each.name, seed, each.recipe.words, seconds[each.name])
            for each, seed in coming
        ]

    def _trial(self, variant: Variant) -> float:
        assert self._texts is not None
        if variant.name not in self._tried:
            corpus, _ = self._texts.of(variant)
            words = variant.recipe.words
            rate = pretrain.words_per_second(corpus, variant.recipe) if words else 1.0
            self._tried[variant.name] = ENDS + words / (pretrain.SHARE * rate)
        return self._tried[variant.name]

    def _estimate(self, variant: Variant) -> float:
        """By the cost model, on the encoder as the pretraining begins with it: weights do not change what it takes."""
        assert self._texts is not None
        if _size(variant) not in self._tried:
            corpus, _ = self._texts.of(variant)
            hide_progress()
            model, tokenizer = pretrain.build(corpus.texts, variant.recipe)
            with tempfile.TemporaryDirectory() as folder:
                model.save_pretrained(folder)
                tokenizer.save_pretrained(folder)
                self._tried[_size(variant)] = sum(
                    self._scoring(Path(folder), protocol) for protocol in self._study.protocols
                )
        return self._tried[_size(variant)]


def _size(variant: Variant) -> tuple[str, str, int]:
    """Values that decide the time of fine-tuning: all but the vocabulary's cuts, which change it little."""
    return variant.recipe.size, variant.recipe.start, variant.recipe.vocabulary


def how_many_fit(coming: list[MissingPart], seconds: float) -> int:
    """How many of the first parts fit into a time; one of unknown length does not.

    >>> some = [MissingPart("a", 1, 5, 40.0), MissingPart("b", 1, 5, 70.0), MissingPart("a", 2, 5, 40.0)]
    >>> how_many_fit(some, 100), how_many_fit(some, 110), how_many_fit(some, 39)
    (1, 2, 0)
    """
    ends = accumulate(math.inf if part.seconds is None else part.seconds for part in coming)
    return sum(end <= seconds for end in ends)
