"""`blurb pretrain`: a small encoder from unlabelled text."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any

import click

from blurb.extensions.lab.pretraining import request, speed
from blurb.extensions.lab.pretraining.pretrain import ABOUT, pretrain, version_in
from blurb.system.files import read_json


@click.command(name="pretrain")
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@click.argument("more", nargs=-1, type=click.Path(), metavar="[TEXT]...")
@click.option(
    "--text",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Text (.txt, .jsonl, PubMed's .xml, also .gz), a folder of such files, or train: the train texts of --data.",
)
@click.option(
    "--mix",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="A second corpus; the smaller is repeated until both weigh as much.",
)
@click.option(
    "--data", type=click.Path(path_type=Path), help="Data folder: documents of its dev and test sets are left out."
)
@click.option("--raw", type=click.Path(path_type=Path), help="Folder of the original releases, for --text train.")
@click.option(
    "--size",
    type=click.Choice(["tiny", "mini", "small"]),
    default="tiny",
    show_default=True,
    help="tiny (2 layers of 128), mini (4 of 256) or small (6 of 384).",
)
@click.option(
    "--from",
    "start",
    type=click.Path(),
    default="",
    metavar="FOLDER",
    help="Continue from a checkpoint, with its vocabulary.",
)
@click.option(
    "--vocabulary", type=int, default=8_000, show_default=True, help="Entries of the vocabulary that is learnt."
)
@click.option(
    "--vocabulary-of",
    type=click.Path(),
    default="",
    metavar="FOLDER",
    help="Take the entries from the WordPiece vocabulary of a checkpoint, the first ones.",
)
@click.option(
    "--kind",
    type=click.Choice(["wordpiece", "bpe"]),
    default="wordpiece",
    show_default=True,
    help="Kind of vocabulary.",
)
@click.option("--cased", is_flag=True, help="Keep upper case.")
@click.option(
    "--words", default="20M", show_default=True, metavar="N", help="Budget: words of text seen, as 20M or 300k."
)
@click.option(
    "--hours",
    type=click.FloatRange(0, min_open=True),
    help="Budget by time: as many words as fit, by a trial of some seconds.",
)
@click.option("--mask-rate", type=float, default=0.15, show_default=True, help="Part of the sub-tokens to predict.")
@click.option("--rising", is_flag=True, help="The mask rate grows from a fifth of it.")
@click.option("--whole-word", is_flag=True, help="Mask all sub-tokens of a word, or none.")
@click.option("--next-sentence", is_flag=True, help="Also learn whether one text follows another.")
@click.option("--length", type=int, default=64, show_default=True, help="Sub-tokens of an input.")
@click.option("--batch", type=int, default=32, show_default=True, help="Inputs of an update.")
@click.option("--lr", type=float, default=3e-3, show_default=True, help="Learning rate; 1e-3 suits mini and small.")
@click.option("--seed", type=int, default=1, show_default=True, help="Decides weights, masks and order.")
@click.option("--every", type=click.IntRange(min=0), default=0, metavar="N",
              help="Also keep a checkpoint each N updates, beside those after 1, 2, 5, 10, 20, 50, ...")  # fmt: skip
@click.option("--threads", type=click.IntRange(min=1), help="Threads of torch.  [default: all cores]")
@click.option("--dry-run", is_flag=True, help="Read the text, say what would be seen, and stop.")
def command(
    out: Path, more: tuple[str, ...], text: tuple[str, ...], mix: tuple[str, ...], data: Path | None, raw: Path | None,
    words: str, hours: float | None, every: int, threads: int | None, dry_run: bool, **settings: Any,
) -> None:  # fmt: skip
    """Pretrain a small encoder on text by masked language modelling.

    Each TEXT is as after --text, so that a shell may expand --text *.txt to several.

    The encoder is OUT/model, for blurb run; checkpoints on the way are in OUT/checkpoints. The same command goes on
    after a kill: on the same machine with the same --threads, to the same weights.
    docs/extensions/lab.md says what budgets were seen to show.
    """
    text += more
    recipe = request.recipe({**settings, "words": request.words(words)})
    if text:  # else an error follows
        click.echo("Reading the text ...", err=True)
    corpus, about = request.corpus(text, mix, data, raw, version_in(out))
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    if hours is not None:
        recipe = speed.for_hours(out, corpus, recipe, hours)
    kept_out = ", ".join(f"{count:,} by {reason}" for reason, count in corpus.left_out.items())
    click.echo(f"{len(corpus.texts):,} documents, {corpus.words:,} words; left out: {kept_out or 'none'}", err=True)
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
    click.echo(f"Score it: {score} --protocol quick{'' if data is None else f' --data {quote(str(data))}'}", err=True)
