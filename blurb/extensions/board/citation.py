"""What a page says of a row of a board beside its figures: facts of its files, and how to cite it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blurb.extensions.board.listing import BoardListing
from blurb.extensions.reports.html.provenance import public


def facts(listing: BoardListing) -> Iterator[tuple[str, str]]:
    """Name and value of what its files say, but for those that say nothing."""
    about = listing.about
    party = {"first": "first: made the model", "third": "third: did not make the model"}.get(about["party"], "")
    texts = {
        "Folder": listing.scores.key,
        "Measured by": about["measured_by"],
        "Party": party,
        # Of predictions from elsewhere nobody has seen the weights.
        "Weights and configuration": "" if listing.scores.kind.joins else about["weights"],
        "Tokenizer": about["tokenizer"],
        "Protocol": f"{about['protocol']} ({about['protocol_hash'][:12]})",
        "blurb": about["blurb"],
        "Manifest": listing.manifest,
    }
    yield from ((name, public(value)) for name, value in texts.items() if value)


def citation(listing: BoardListing, title: str) -> str:
    """An entry for BibTeX, with the hash by which all files of the row are known.

    :param title: of the board
    """
    about = listing.about
    name = f"{about['model']} under {about['protocol']}"
    fields = {
        "title": f"{{{_plain(name)}: a row of predictions on BLURB}}",
        "author": f"{{{_plain(about['measured_by'])}}}" if about["measured_by"] else "",
        "howpublished": f"{_plain(title)}, row {_plain(listing.scores.key)}",
        "year": listing.added[:4],
        "note": f"{listing.level}; SHA-256 of its manifest {listing.manifest[:16]}",
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{listing.scores.key},", ",\n".join(lines), "}"])


def _plain(text: str) -> str:
    """Without what TeX reads as a command."""
    return re.sub(r"[\\{}%#$^~&]", " ", text).replace("_", r"\_")
