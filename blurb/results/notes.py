"""Notes on what to know before comparing a row, based on its actual trials."""

from __future__ import annotations

from collections.abc import Collection, Mapping

ONE_SEED = "one seed"
SEVERAL = 3
"""Maximum number of datasets to list by name."""


def of_row(words: str, seeds: Mapping[str, int], most_train: Mapping[str, int], most_eval: Mapping[str, int]) -> str:
    """The note of a row: the note of its protocol, then the seeds and limits of its trials.

    :param words: note in the protocol's file
    :param seeds: dataset -> planned runs; empty for a baseline
    :param most_train: dataset -> maximum number of training examples, 0 for all
    :param most_eval: dataset -> maximum number of dev and test examples, 0 for all
    """
    parts = [words]
    if set(seeds.values()) == {1}:
        parts.append(ONE_SEED)
    parts += [_limit("training examples", most_train), _limit("dev and test examples", most_eval)]
    return "; ".join(part for part in parts if part)


def _limit(what: str, most: Mapping[str, int]) -> str:
    """`at most 2,000 training examples`, with the names of the datasets if only some have a limit."""
    limited = {name: count for name, count in most.items() if count}
    if not limited:
        return ""
    counts = " or ".join(f"{count:,}" for count in sorted(set(limited.values())))
    return f"at most {counts} {what}" + ("" if len(limited) == len(most) else f" ({listed(limited)})")


def listed(names: Collection[str]) -> str:
    """The names of a few datasets, the number of many."""
    return ", ".join(names) if len(names) <= SEVERAL else f"{len(names)} datasets"
