"""What a reader must know of a row before comparing it, from what was run and not from what a protocol meant to run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

ONE_SEED = "one seed"
SEVERAL = 3
"""Datasets that are named one by one."""


def of_row(words: str, seeds: Mapping[str, int], most_train: Mapping[str, int], most_eval: Mapping[str, int]) -> str:
    """The note of a row: words of its protocol, then its seeds and the limits of its trials.

    :param words: what the file of the protocol says of all that it runs
    :param seeds: dataset -> planned runs of what is trained; empty for a baseline
    :param most_train: dataset -> the most training units, 0 for all
    :param most_eval: dataset -> the most dev and test units, 0 for all
    """
    parts = [words]
    if set(seeds.values()) == {1}:
        parts.append(ONE_SEED)
    parts += [_limit("training units", most_train), _limit("dev and test units", most_eval)]
    return "; ".join(part for part in parts if part)


def _limit(what: str, most: Mapping[str, int]) -> str:
    """`at most 2,000 training units`; where only some datasets have a limit, which."""
    limited = {name: count for name, count in most.items() if count}
    if not limited:
        return ""
    counts = " or ".join(f"{count:,}" for count in sorted(set(limited.values())))
    return f"at most {counts} {what}" + ("" if len(limited) == len(most) else f" ({_listed(limited)})")


def _listed(names: Collection[str]) -> str:
    return ", ".join(names) if len(names) <= SEVERAL else f"{len(names)} datasets"
