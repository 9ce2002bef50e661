"""`blurb.pretrain`: a small encoder from unlabelled text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from blurb.extensions.lab.pretraining import request
from blurb.extensions.lab.pretraining.recipe import version_in
from blurb.options import Option

WORDS = Option(help="Budget: words of text seen, as 20M or 300k.", metavar="N")
HOURS = Option(help="Budget by time: as many words as fit, by a trial of some seconds.", above=0)
EVERY = Option(
    help="Also keep a checkpoint each N updates, beside those after 1, 2, 5, 10, 20, 50, ...",
    low=0,
    metavar="N",
)


def pretrain(
    out: Path | str,
    text: str | Path | Sequence[str],
    *,
    words: Annotated[str, WORDS] = "20M",
    hours: Annotated[float | None, HOURS] = None,
    mix: str | Path | Sequence[str] = (),
    data: Path | str | None = None,
    raw: Path | str | None = None,
    every: Annotated[int, EVERY] = 0,
    progress: bool = True,
    **recipe: Any,
) -> Path:
    """Pretrains an encoder by masked language modelling; returns its folder, which `blurb.run` takes.

    The same call goes on with a pretraining that was killed, on the same machine with the same threads to the same
    weights.

    :param out: folder of the checkpoints; the encoder is `out/model`
    :param text: files or folders; "train" for the train texts of the data folder
    :param words: budget: words of text seen, such as "20M"
    :param hours: budget by time, instead of `words`
    :param mix: a second corpus; the smaller is repeated until both weigh as much
    :param data: data folder: documents of its dev and test sets are left out
    :param raw: folder of the original releases, for `text="train"`
    :param every: updates between checkpoints that stay, beside those after 1, 2, 5, 10, 20, 50, ...
    :param recipe: settings of the pretraining, such as `size="mini"`, `whole_word=True` (the help of `blurb pretrain`)
    :raises BlurbError: for texts, settings or a folder that cannot be taken
    """
    requested = request.recipe({**recipe, "words": request.words(words)})
    place, originals = (None if each is None else Path(each) for each in (data, raw))
    corpus, about = request.corpus(
        _listed(text), _listed(mix), place, originals, version_in(Path(out))
    )
    from blurb.extensions.lab.pretraining import pretrain as lab

    if hours is not None:
        requested = lab.for_hours(Path(out), corpus, requested, hours)
    return lab.pretrain(Path(out), corpus, requested, about, progress, every)


def _listed(text: str | Path | Sequence[str]) -> list[str]:
    return [str(text)] if isinstance(text, str | Path) else [str(each) for each in text]
