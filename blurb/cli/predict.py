"""`blurb predict`: what a trained model says of text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import click

from blurb import tasks
from blurb.api.predicting import load_dataset, load_model
from blurb.cli._made import HEAD, POOLING, click_command
from blurb.data import raw
from blurb.learners import saved_models
from blurb.messages import ErrorCollector, SettingsError, notify, opt
from blurb.names import resolve_name
from blurb.options import Argument, Option
from blurb.planning.options import OUTPUT, TRUST
from blurb.row_files import references
from blurb.system.files import write_whole

DIGITS = 4
"""Of a score that is read by people."""


@click_command("predict")
def command(
    trial: Annotated[str, Argument(complete="rows_anywhere")],
    file: Annotated[Path | None, Argument()] = None,
    *,
    texts: Annotated[
        tuple[str, ...], Option(help="Text, instead of FILE; repeatable.", flag="--text")
    ] = (),
    data: Annotated[
        Path | None,
        Option(
            help="Data folder, instead of FILE: predict its test set. If "
            "the model was trained on the original releases (--raw of blurb run), the folder of these."
        ),
    ] = None,
    task: Annotated[
        str | None,
        Option(help="Dataset; not needed if TRIAL is a trial folder.", complete="one_task"),
    ] = None,
    seed: Annotated[int | None, Option(help="Seed of the run.  [default: the first]")] = None,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    device: Annotated[str, Option(help="Device: auto, cpu, cuda, cuda:N or mps.")] = "auto",
    head: Annotated[str | None, HEAD] = None,
    pooling: Annotated[str | None, POOLING] = None,
    trust_remote_code: Annotated[bool, TRUST] = False,
    out: Annotated[Path | None, Option(help="File to write.  [default: print]")] = None,
) -> None:
    """Predict with a saved fine-tuned model.

    Reads FILE or --text; TRIAL was run with --keep-model best.

    TRIAL is a trial folder, the folder of a kept model, or a row (MODEL, FOLDER[:ROW]) with --task. FILE has a text a
    line, two texts separated by a tab for pairs, or in .jsonl an object a line (docs/models.md). Prints a JSON object a
    line: spans with characters, or a prediction with its scores.
    """
    if sum(map(bool, (file, texts, data))) != 1:
        raise SettingsError("Give either FILE, --text or --data.")
    alone = (Path(trial) / saved_models.ABOUT).is_file()
    if task is not None:
        task = references.typed_task(task)
    wrong = ErrorCollector()
    with wrong:
        record = None if alone else references.find_trial(trial, output, task, seed)
    with wrong:
        inputs = list(raw.lines(file)) if file else list(enumerate(texts, 1))
    wrong.stop()
    place = trial if record is None else record.path
    model = load_model(
        place, device, head=head, pooling=pooling, trust_remote_code=trust_remote_code
    )
    own = model.task.name
    if alone and (seed is not None or resolve_name(task or own, [own]) != own):
        raise SettingsError(
            f"{trial} is one model of {own}", fix=f"remove {opt('task')} and {opt('seed')}."
        )
    made = None if record is None else record.provenance.configuration
    if made is not None and made.note:
        click.echo(f"The model was trained under {made.protocol}: {made.note}.", err=True)
    if data:
        known = tasks.to_read(model.task)
        splits = load_dataset(
            known.file or known.name,
            data,
            suite=known.suite or "blurb",
            original=model.reads_originals,
        )
        answers = model.of_examples(splits["test"].to_list())
    else:
        lost = [number for number, given in inputs if not _text_of(given).strip()]
        kept = [each for each in inputs if each[0] not in lost] or inputs
        if len(kept) < len(inputs):
            notify(
                f"{file or '--text'}: left out, as the text is empty: {', '.join(map(str, lost))}."
            )
        answers = model.of_raw(
            [raw.read(model.task, given, number, file) for number, given in kept]
        )
    answers = _round_floats(answers) if texts else answers
    written = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in answers)
    if out:
        write_whole(out, written.encode())
    else:
        click.echo(written, nl=False)


def _text_of(given: raw.Input) -> str:
    return given if isinstance(given, str) else str(given.get("text", given))


def _round_floats(value: Any) -> Any:
    """A value with its floats at four digits, for people who typed a text and read the answer."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {name: _round_floats(one) for name, one in value.items()}
    return [_round_floats(one) for one in value] if isinstance(value, list) else value
