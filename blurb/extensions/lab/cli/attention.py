"""`blurb attention`: where the words of a text look, layer by layer and head by head."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from blurb.cli._made import click_command
from blurb.extensions.reports.plots import _style
from blurb.options import Argument, Option
from blurb.planning.options import TRUST


@click_command("attention")
def command(
    models: Annotated[tuple[str, ...], Argument(metavar="MODEL [MODEL]", complete="models")],
    *,
    text: Annotated[str, Option(help="The text: a sentence or two.")],
    entity: Annotated[
        str | None,
        Option(help="A part of the text to mark, whose mean row can be shown.", metavar="WORDS"),
    ] = None,
    word: Annotated[
        str | None, Option(help="Also show queries, keys and scores of this word of the text.")
    ] = None,
    head: Annotated[
        str | None,
        Option(
            help="The head to show first, as 5.3, from 1.  [default: the one that looks least at special tokens]",
            metavar="LAYER.HEAD",
        ),
    ] = None,
    data: Annotated[
        Path | None, Option(help="Data folder, for the vocabulary of scratch:tiny.")
    ] = None,
    out: Annotated[Path, Option(help="The page.", path="file", metavar="FILE")] = Path(
        "attention.html"
    ),
    plot: Annotated[
        Path | None,
        Option(
            help="Also draw a picture: .png, .svg or .pdf (needs the extra 'plots').",
            path="file",
            metavar="FILE",
        ),
    ] = None,
    trust_remote_code: Annotated[bool, TRUST] = False,
) -> None:
    """Show the attention of an encoder on a text.

    Two encoders are shown side by side. MODEL is a checkpoint as in blurb run, or the folder of a trial with a kept
    model; of a kept baseline:bilstm the weights of its pooling are shown. The page is one file that needs no network.
    Sub-tokens are joined to words, and special tokens are shown apart. Weights show where a head looks, not why a
    model answers as it does.
    """
    from blurb.extensions.lab.attention import attention

    _style.check(plot)
    result = attention(
        models,
        text,
        entity=entity,
        word=word,
        head=head,
        data=data,
        trust_remote_code=trust_remote_code,
    )
    result.html(out)
    if plot is not None:
        result.plot(plot)
    for note in result.notes:
        click.echo(note, err=True)
    for model in result.models:
        layers, heads = model.matrix.shape[:2]
        where = "a pooling" if model.is_pooling else f"{layers} layers of {heads} heads"
        special = ", ".join(model.columns[place] for place in model.special) or "special tokens"
        click.echo(
            f"{model.name}: {where}; of a word's weights {special} get {model.mean_special.mean():.0%} on average"
        )
    click.echo(f"Page: {out}" + (f"   picture: {plot}" if plot else ""))
