"""A pretraining with a fault built in, to try `blurb series`, `check`, `bisect` and `plan` on.

docs/extensions/series.md has what they say of it.

    python -m benchmarks.faulty_run OUT --data DATA --words 20M --every 1000 --at 0.6

It is `blurb pretrain OUT --text train` with the rate of learning multiplied for some updates: until then both runs have
the same weights to the last bit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from transformers import TrainerCallback


class Spike(TrainerCallback):  # type: ignore[misc]
    """Multiplies the rate of learning for some updates; the schedule sets it anew after each."""

    def __init__(self, at: float, updates: int, factor: float) -> None:
        self.at, self.updates, self.factor = at, updates, factor

    def on_step_begin(
        self, args: Any, state: Any, control: Any, optimizer: Any = None, **_: Any
    ) -> None:
        """The update that begins is `state.global_step` + 1."""
        begin = round(self.at * state.max_steps)
        if begin <= state.global_step < begin + self.updates:
            for group in optimizer.param_groups:
                group["lr"] *= self.factor


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--words", default="20M", show_default=True)
@click.option("--every", default=0, show_default=True)
@click.option("--at", default=0.6, show_default=True, help="Part of the way at which it begins.")
@click.option("--updates", default=100, show_default=True, help="Updates that it lasts.")
@click.option("--factor", default=30.0, show_default=True, help="Of the rate; 1 is no fault.")
@click.option("--seed", default=1, show_default=True)
@click.option("--threads", default=1, show_default=True)
def main(
    out: Path,
    data: Path,
    words: str,
    every: int,
    at: float,
    updates: int,
    factor: float,
    seed: int,
    threads: int,
) -> None:
    """Pretrains with a spike of the rate of learning."""
    import torch

    from blurb.extensions.lab.pretraining import request
    from blurb.extensions.lab.pretraining.pretrain import pretrain

    torch.set_num_threads(threads)
    recipe = request.recipe({"words": request.words(words), "seed": seed})
    corpus, about = request.corpus(("train",), (), data, None)
    fault = {"spike": {"at": at, "updates": updates, "factor": factor}}
    folder = pretrain(
        out, corpus, recipe, {**about, **fault}, False, every, [Spike(at, updates, factor)]
    )
    click.echo(f"Encoder: {folder}")


if __name__ == "__main__":
    main()
