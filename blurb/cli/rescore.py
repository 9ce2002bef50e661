"""`blurb rescore`: recompute the metrics from stored predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from blurb.cli._made import LEADERBOARD, click_command
from blurb.messages import StoreError, count_noun
from blurb.planning.options import OUTPUT
from blurb.results import tables
from blurb.store.rescore import rescore_store
from blurb.store.store import Store


@click_command("rescore")
def command(
    *,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    leaderboard: Annotated[Path | None, LEADERBOARD] = None,
) -> None:
    """Recompute all metrics and tables, without training.

    Metrics are computed from the stored predictions."""
    store = Store(output)
    if not store.trial_folders():
        raise StoreError(f"No trials in {output}", fix="check --output.")
    table = tables.place(output, leaderboard)
    tables.check(store, table)
    scored, changed = rescore_store(store)
    tables.rebuild(store, table)
    left = len(store.trial_folders()) - scored
    click.echo(
        f"{count_noun(scored, 'trial')} rescored, {changed} changed{f', {left} left out' * bool(left)}; "
        f"rebuilt {table}."
    )
