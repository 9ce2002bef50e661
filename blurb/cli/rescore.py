"""`blurb rescore`: recompute the metrics from stored predictions."""

from __future__ import annotations

from pathlib import Path

import click

from blurb.cli._options import STORE


@click.command(name="rescore")
@STORE
@click.option(
    "--leaderboard", type=click.Path(path_type=Path), default="leaderboard.csv", show_default=True,
    help="Table to rebuild; its runs go into results.csv in the same folder, or NAME-results.csv for NAME.csv.",
)  # fmt: skip
def command(output: Path, leaderboard: Path) -> None:
    """Recompute all metrics and tables, without training.

    Metrics are computed from the stored predictions."""
    from blurb.messages.errors import StoreError
    from blurb.messages.text import plural
    from blurb.results import tables
    from blurb.store.rescore import rescore
    from blurb.store.store import Store

    store = Store(output)
    if not store.trial_folders():
        raise StoreError(f"No trials in {output}", fix="check --output.")
    tables.check(store, leaderboard)
    scored, changed = rescore(store)
    tables.rebuild(store, leaderboard)
    left = len(store.trial_folders()) - scored
    click.echo(
        f"{plural(scored, 'trial')} rescored, {changed} changed{f', {left} left out' * bool(left)}; "
        f"rebuilt {leaderboard}."
    )
