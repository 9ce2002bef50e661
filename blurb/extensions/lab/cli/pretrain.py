"""`blurb pretrain`: a small encoder from unlabelled text."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import click

from blurb.cli._made import click_command
from blurb.extensions.lab.api.pretraining import EVERY, HOURS, WORDS
from blurb.extensions.lab.pretraining import request
from blurb.extensions.lab.pretraining.recipe import ABOUT, Recipe, version_in
from blurb.options import Argument, Option
from blurb.system.files import read_json


@click_command("pretrain", Recipe)
def command(
    out: Annotated[Path, Argument(path="dir")],
    more: Annotated[tuple[str, ...], Argument(metavar="[TEXT]...")] = (),
    *,
    text: Annotated[
        tuple[str, ...],
        Option(
            help="Text (.txt, .jsonl, PubMed's .xml, also .gz), "
            "a folder of such files, or train: the train texts of --data.",
            metavar="FILE",
        ),
    ] = (),
    mix: Annotated[
        tuple[str, ...],
        Option(
            help="A second corpus; the smaller is repeated until both weigh as much.",
            metavar="FILE",
        ),
    ] = (),
    data: Annotated[
        Path | None, Option(help="Data folder: documents of its dev and test sets are left out.")
    ] = None,
    raw: Annotated[
        Path | None, Option(help="Folder of the original releases, for --text train.")
    ] = None,
    words: Annotated[str, WORDS] = "20M",
    hours: Annotated[float | None, HOURS] = None,
    every: Annotated[int, EVERY] = 0,
    threads: Annotated[
        int | None, Option(help="Threads of torch.  [default: all cores]", low=1)
    ] = None,
    dry_run: Annotated[
        bool, Option(help="Read the text, say what would be seen, and stop.")
    ] = False,
    **settings: Any,
) -> None:
    """Pretrain a small masked language model on text.

    Each TEXT is as after --text, so that a shell may expand a pattern after --text to several.

    The encoder is OUT/model, for blurb run; checkpoints on the way are in OUT/checkpoints. The same command goes on
    after a kill: on the same machine with the same --threads, to the same weights.
    docs/extensions/lab.md says what budgets were seen to show.
    """
    text += more
    recipe = request.recipe({**settings, "words": request.words(words)})
    if text:  # else an error follows
        click.echo("Reading the text ...", err=True)
    corpus, about = request.corpus(text, mix, data, raw, version_in(out))
    from blurb.extensions.lab.pretraining.pretrain import for_hours, pretrain

    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    if hours is not None:
        recipe = for_hours(out, corpus, recipe, hours)
    kept_out = ", ".join(f"{count:,} by {reason}" for reason, count in corpus.left_out.items())
    click.echo(
        f"{len(corpus.texts):,} documents, {corpus.words:,} words; left out: {kept_out or 'none'}",
        err=True,
    )
    for name, why in about["datasets without original text"].items():
        click.echo(f"Without {name}, whose text here has dummies: {why}", err=True)
    if dry_run:
        click.echo(f"{recipe.words:,} words are {recipe.words / corpus.words:.1f} times the text.")
        return
    folder = pretrain(out, corpus, recipe, about, every=every)
    bits = read_json(folder / ABOUT)["bits per byte"]
    click.echo(
        f"Encoder: {folder}   bits per byte {bits['model']:.3f} "
        f"(frequencies {bits['frequencies']:.3f}, bigrams {bits['pairs']:.3f})"
    )
    score = f"blurb run {quote(str(folder))} --name {quote(out.resolve().name)}"
    click.echo(
        f"Score it: {score} --protocol quick{'' if data is None else f' --data {quote(str(data))}'}",
        err=True,
    )
