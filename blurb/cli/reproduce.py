"""`blurb reproduce`: run a finished trial again and compare."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal, TypedDict

import click

from blurb.cli import _complete
from blurb.cli._formats import formats
from blurb.cli._options import CASING, HEAD, POOLING, STORE, TRUST
from blurb.records import Count, Rule
from blurb.records import columns as keys
from blurb.terminal.output import show


class Reproduced(TypedDict):
    """A split of a trial that was run again."""

    trial: Annotated[str, "hash of the trial", Rule("pattern", "^[0-9a-f]{16}$")]
    task: Annotated[str, "its dataset"]
    seed: Annotated[int, "its seed"]
    split: Annotated[Literal["dev", "test"], "the split"]
    units: Annotated[Count, "number of stored predictions"]
    differing: Annotated[Count, "number of predictions that are not the same now"]
    stored: Annotated[float, "score of the stored predictions, times 100"]
    now: Annotated[float, "score of the new ones, times 100"]


@click.command(name="reproduce")
@click.argument("trial", shell_complete=_complete.rows_anywhere)
@click.argument("model", shell_complete=_complete.models)
@click.option("--task", shell_complete=_complete.one_task, help="Dataset; not needed if TRIAL is a trial folder.")
@click.option("--seed", type=int, help="Seed of the run.  [default: the first]")
@click.option("--data", type=click.Path(path_type=Path), help="Data folder; not for trials of the demo suite.")
@click.option("--raw", type=click.Path(path_type=Path), help="Folder of the originals, if the trial reads them.")
@STORE
@CASING
@click.option(
    "--device", shell_complete=_complete.devices, default="auto", show_default=True,
    help="Device: auto, cpu, cuda, cuda:N or mps.",
)  # fmt: skip
@HEAD
@POOLING
@TRUST
@formats(list[Reproduced])
def command(
    trial: str, model: str, task: str | None, seed: int | None, data: Path | None, raw: Path | None, output: Path,
    casing: str | None, device: str, head: str | None, pooling: str | None, trust_remote_code: bool, form: str,
) -> None:  # fmt: skip
    """Run a finished trial again and compare its predictions.

    TRIAL is run with MODEL; its predictions are compared with the stored ones.

    TRIAL is a trial folder, or a row (MODEL, FOLDER[:ROW]) with --task. Model, data and recipe must be those of the
    trial. The store is not changed. Exit status 0: all predictions are the same; 1: some are not.
    """
    from blurb.api.reproducing import reproduce
    from blurb.api.request import folders
    from blurb.results import references
    from blurb.wording import plural

    record = references.trial(trial, output, task, seed)
    made = record.provenance.configuration
    folder, original = folders(made.suite if made else "blurb", data, raw, [record.task], has_suite=False)
    found = reproduce(
        record, model, folder, original, device=device, casing=casing, trust_remote_code=trust_remote_code,
        head=head, pooling=pooling,
    )  # fmt: skip
    columns = keys(Reproduced)
    lines = [
        (found.trial, found.task, found.seed, one.split, one.units, one.differing, 100 * one.stored, 100 * one.now)
        for one in found.splits
    ]
    if form != "table":
        show(columns, lines, form)
    else:
        written = [(split, units, other, f"{then:.2f}", f"{now:.2f}") for *_, split, units, other, then, now in lines]
        click.echo(f"{record.provenance.model}, {found.task}, seed {found.seed} (trial {found.trial})")
        show(columns[3:], written, form, numbers=columns[4:])
        different = sum(one.differing for one in found.splits)
        click.echo("All predictions are the same." if found.same else f"{plural(different, 'prediction')} differ.")
        for name, (then, now) in found.environment.items():
            click.echo(f"{name}: {then} then, {now} now")
    sys.exit(0 if found.same else 1)
