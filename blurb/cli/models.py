"""`blurb models`: the models that have a name of their own, and what will surprise with a checkpoint."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import click

from blurb.api.model_check import ModelCheck, check_model
from blurb.cli._exit import PARTLY
from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.learners.building import ModelName, named_models
from blurb.options import Argument, Option
from blurb.planning.options import CASING, TRUST
from blurb.terminal.output import Column, json_text, print_facts, print_records


@click_command("models", prints=list[ModelName], cls=Group)
def command(*, form: str) -> None:
    """List the models that blurb knows by name, or check one.

    Presets of the Hub, encoders from scratch, baselines.

    Any checkpoint folder and any Hub id (org/model or org/model@revision) can be run as well. A scratch encoder takes
    its vocabulary from the data. csv and json also have, for each model, the casing that blurb sets where the
    checkpoint's files are wrong (see --casing of blurb run), the origin of its vocabulary, its published row, and a
    revision (which pins nothing) and licence, which are empty where no source states them.
    """
    print_records(
        form,
        ModelName,
        named_models(),
        [Column(title) for title in ("name", "size", "text", "model")],
    )


@click_command("check", prints=ModelCheck, csv=False, within=command)
def check(
    model: Annotated[str, Argument(complete="models")],
    *,
    base: Annotated[
        str | None,
        Option(
            help="If MODEL is a PEFT adapter: the model that it was trained on.",
            metavar="REF",
            complete="models",
        ),
    ] = None,
    casing: Annotated[str | None, CASING] = None,
    trust_remote_code: Annotated[bool, TRUST] = False,
    form: str,
) -> None:
    """Show known problems of MODEL.

    And try a training step and a prediction for each kind of task.

    The examples are synthetic, so no data is needed. Exit code 0 if everything ran, 1 if something did not, 2 if MODEL
    cannot be loaded (then see blurb doctor).
    """
    checked = check_model(model, casing, trust_remote_code, base)
    if form == "json":
        click.echo(json_text(asdict(checked)), nl=False)
    else:
        click.secho(checked.model, bold=True)
        print_facts(checked.facts)
        for surprise in checked.surprises:
            click.secho(f"* {surprise}", fg="yellow")
        for each in checked.tries:
            settings = " ".join(f"{key}={value}" for key, value in each.settings.items())
            line = f"  {each.task:10} {settings:45} {each.error or f'ran in {each.seconds:.1f} s'}"
            click.secho(line.rstrip(), fg="red" if each.error else None)
    if any(each.error for each in checked.tries):
        raise SystemExit(PARTLY)
