"""`blurb.study`: variants of a pretraining, each pretrained several times and scored."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from blurb.corpora import demo
from blurb.extensions.lab.study import findings, parts, spec
from blurb.messages import DataError, format_duration, opt
from blurb.options import Argument, Option
from blurb.planning import trials
from blurb.planning.options import RunOptions
from blurb.planning.request import make_request
from blurb.results.row import Row

if TYPE_CHECKING:
    from blurb.extensions.lab.study import conduct


def study(
    file: Annotated[Path | str, Argument()],
    output: Annotated[
        Path | str, Option(help="Folder of the parts; a study goes on from them alone.", path="dir")
    ] = "study",
    *,
    data: Annotated[
        Path | str | None,
        Option(help="Data folder; what its dev and test sets have is not learnt."),
    ] = None,
    raw: Annotated[
        Path | str | None, Option(help="Folder of the original releases, for more text.")
    ] = None,
    suite: Annotated[
        str, Option(help="demo: synthetic data, for a try.", choices=("blurb", "demo"))
    ] = "blurb",
    hours: Annotated[
        float | None, Option(help="Begin only parts that end within this time.", above=0)
    ] = None,
    run: bool = True,
    progress: bool = True,
    told: Callable[[str], None] | None = None,
) -> findings.Findings:
    """Makes the parts of a study that are missing, and returns what all parts show.

    :param file: TOML file of the study, or the name of one that is shipped
    :param output: folder of its parts, from which alone it goes on
    :param data: data folder, of whose dev and test sets no text is learnt; with its gold answers the sentences are on
        pretrainings and test examples, without it on pretrainings alone
    :param hours: from now; a part that is predicted to take longer than what is left of them is not begun, and `told`
        hears what is left. All variants of a seed come before the next seed
    :param run: False makes no part, and reads those that are there
    :param told: called with a sentence for each part that is done
    :raises BlurbError: for a study that cannot be made, or parts of another one
    """
    folder, place = Path(output), _place(data, suite)
    requested = parts.start_study(spec.read(file), folder)
    say = told or (lambda sentence: None)
    if run:
        if place is None:
            raise DataError(
                "A study needs the data folder",
                fix=f"add {opt('data')}, or {opt('suite', 'demo')} to try it.",
            )
        from blurb.extensions.lab.study import conduct

        end = math.inf if hours is None else time.monotonic() + 3600 * hours
        originals = None if raw is None else Path(raw)
        options = _options(requested, folder, place, originals, suite)
        texts = conduct.Texts(place, originals)
        forecast = conduct.Forecast(
            requested, folder, texts, partial(_predict_scoring, options=options)
        )

        def fits(variant: spec.Variant) -> bool:
            return end == math.inf or time.monotonic() + (forecast.seconds(variant) or 0.0) <= end

        for variant, seed in conduct.conduct(
            requested, folder, texts, partial(_score, options=options), progress, fits
        ):
            say(f"{variant.name}, pretraining {seed}: done")
        if hours is not None and (left := forecast.parts()):
            say(
                f"{len(left)} pretrainings are left, which take about {_sum(left)}: start the same command again."
            )
    return findings.read(folder, requested, place)


def missing_parts(
    file: Path | str,
    output: Path | str = "study",
    *,
    data: Path | str | None = None,
    raw: Path | str | None = None,
    suite: str = "blurb",
    hours: float | None = None,
) -> tuple[list[conduct.MissingPart], str]:
    """The parts that `study` would make, in their order with their predicted seconds, and a sentence on all of them."""
    folder, place = Path(output), _place(data, suite)
    requested = parts.start_study(spec.read(file), folder)
    from blurb.extensions.lab.study import conduct

    originals = None if raw is None else Path(raw)
    texts = None if place is None else conduct.Texts(place, originals)
    options = _options(requested, folder, place, originals, suite)
    coming = conduct.Forecast(
        requested, folder, texts, partial(_predict_scoring, options=options)
    ).parts()
    text = f"{len(coming)} of {len(requested.pretrainings)} pretrainings are missing in {folder}"
    if all(part.seconds is not None for part in coming):
        text += f": about {_sum(coming)}" if coming else ""
        if coming and hours is not None:
            text += f"; {conduct.how_many_fit(coming, 3600 * hours)} fit into {format_duration(3600 * hours)}"
    elif hours is not None:
        raise DataError(
            f"What fits into {opt('hours')} is found by a trial on the text",
            fix=f"add {opt('data')}.",
        )
    return coming, f"{text}."


def _sum(coming: Sequence[conduct.MissingPart]) -> str:
    return format_duration(sum(part.seconds or 0.0 for part in coming))


def _place(data: Path | str | None, suite: str) -> Path | None:
    return demo.prepare() if suite == "demo" else None if data is None else Path(data)


def _options(
    wanted: spec.Study, out: Path, data: Path | None, raw: Path | None, suite: str
) -> Mapping[str, Any]:
    """The options of every encoder's scoring, as keywords of `blurb.run`.

    A machine without bf16 goes on in the precision of the parts, or nothing could be compared.
    """
    return {
        "tasks": ",".join(task.name for task in wanted.tasks),
        "progress": False,
        "precision": parts.precision(out, wanted),
        **({"suite": "demo"} if suite == "demo" else {"data": data, "raw": raw}),
    }


def _predict_scoring(encoder: Path, protocol: str, options: Mapping[str, Any]) -> float:
    """Seconds of the fine-tuning of an encoder."""
    from blurb.cost.estimator import Estimator

    request, _, _ = make_request(
        RunOptions(model=encoder, protocol=protocol, output=encoder / "runs", **options)
    )
    return Estimator(timed=True).estimate([trials.prepare(request)], 1).seconds


def _score(
    encoder: Path | str, name: str, protocol: str, store: Path, options: Mapping[str, Any]
) -> Row:
    from blurb.api.running import run

    results = run(encoder, name=name, protocol=protocol, output=store, **options)
    if results.failed:
        raise DataError(
            f"{name} on {results.failed[0].job.trial.task}: {results.failed[0].message}", store
        )
    return results.rows[0]
