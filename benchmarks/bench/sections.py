"""The sections of `make bench`: each takes the folders of the model and of the data, and gives its figures."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def throughput(model: str, data: Path) -> Any:
    from benchmarks.throughput import measure

    return measure(model, data, "ncbi-disease", batches=100, batch_size=16)


def profile(model: str, data: Path) -> Any:
    from benchmarks.step_profile import measure

    return measure(
        Namespace(
            model=model,
            data=data,
            task="ncbi-disease",
            batches=100,
            batch_size=16,
            precision="bf16",
        )
    )


def crf(model: str, data: Path) -> Any:
    from benchmarks.crf import SIZES, measure

    return {f"{words}, {tags}": measure(words, tags) for words, tags in SIZES}


def metrics(model: str, data: Path) -> Any:
    from benchmarks.entity_f1 import TAG_SETS, measure

    return {name: measure(tags) for name, tags in TAG_SETS.items()}


def statistics(model: str, data: Path) -> Any:
    from benchmarks.resampling import measure

    return measure()


def startup(model: str, data: Path) -> Any:
    from benchmarks.bench.startup import measure

    return measure()


def verify(model: str, data: Path) -> Any:
    """Seconds to read and verify all files at hand."""
    import time

    from blurb import data as corpora, tasks
    from blurb.messages.errors import DataError

    found = {}
    for task in tasks.all():
        begun = time.perf_counter()
        try:
            corpora.load_task(task, data)
        except DataError:
            continue
        found[task.name] = time.perf_counter() - begun
    return found


def growth(model: str, data: Path) -> Any:
    from benchmarks.bench.growth import measure

    return measure()


def full(model: str, data: Path) -> Any:
    from benchmarks.bench.full_sets import measure

    return measure(model, data)


SECTIONS: Mapping[str, Callable[[str, Path], Any]] = {
    "throughput": throughput,
    "profile": profile,
    "growth": growth,
    "crf": crf,
    "metrics": metrics,
    "statistics": statistics,
    "startup": startup,
    "verify": verify,
    "full": full,
}
LATER = ("full",)
"""Sections that the page can be without: they came after its figures."""
