"""`blurb.series`, `blurb.watch` and `blurb.bisect`: the checkpoints of pretraining runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from blurb.api.comparing import check as gate
from blurb.cost.budget import budget_seconds
from blurb.extensions.series import bisecting, conduct, finding
from blurb.extensions.series.api.checkpoint_rows import PLAIN, Scoring, names_of
from blurb.extensions.series.bisecting import Bisection
from blurb.extensions.series.curves import Scored, Step, losses
from blurb.extensions.series.series import Series
from blurb.messages import ErrorCollector, SettingsError, opt
from blurb.options import Argument, Option
from blurb.planning.options import OUTPUT
from blurb.protocols import protocol as protocols
from blurb.regression.rules import Rules, read_rules
from blurb.results.row import Row
from blurb.row_files.references import RowReference, row_of, rows_of
from blurb.store.store import Store
from blurb.tasks import SCORED, ScoredSplit

if TYPE_CHECKING:
    from blurb.regression import Decision

Told: TypeAlias = Callable[[str], None]
Seen: TypeAlias = Callable[[Series, Row | None, "Decision | None"], None]


RUNS = Argument(metavar="RUN_DIR...", many=True)
TASKS = Option(help="Datasets to score (names or types).", complete="tasks")
PROTOCOL = Option(help="Protocol of the fine-tuning.")
PATTERN = Option(
    help="Names of the checkpoints.  [default: every folder that is one]", metavar="GLOB"
)
SPLIT = Option(help="Split of the scores.", choices=SCORED)


def series(
    runs: Annotated[str | Path | Sequence[str | Path], RUNS],
    tasks: Annotated[str | Sequence[str], TASKS] = "all",
    *,
    protocol: Annotated[str, PROTOCOL] = "sketch",
    full: Annotated[
        str | None,
        Option(
            help="Then score the best and the last of each run by this protocol.",
            metavar="PROTOCOL",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        Option(
            help="Time limit such as 30m: first, last, middle, then where it bends.", metavar="TIME"
        ),
    ] = None,
    pattern: Annotated[str | None, PATTERN] = None,
    require: Annotated[
        Sequence[int],
        Option(help="Fail if a run lacks this step; repeatable.", low=0, metavar="STEP"),
    ] = (),
    split: Annotated[ScoredSplit, SPLIT] = "dev",
    beside: Annotated[
        Sequence[RowReference],
        Option(
            help="Draw a row as a line: a baseline, a published one; repeatable.",
            metavar="ROW",
            complete="rows_anywhere",
        ),
    ] = (),
    output: Annotated[Path | str, OUTPUT] = "runs",
    run: bool = True,
    **trials: Any,
) -> Series:
    """Scores the checkpoints of runs, those that are not scored yet, and returns their curves.

    :param runs: a folder with checkpoints or several, or `org/model@PATTERN` for revisions on the Hub
    :param protocol: of all checkpoints
    :param full: a dearer protocol, for the best checkpoint of each run and its last
    :param budget: such as "30m": the first, the last, the geometric middle, then where the curve bends
    :param pattern: names of the checkpoints; by default every folder that is one
    :param require: steps that each run must have
    :param split: of the scores; dev, so that a look at every checkpoint learns nothing of the test sets
    :param beside: rows to draw as lines: baselines, published ones
    :param output: store of the trials
    :param run: False scores nothing, and reads the rows that are there
    :param trials: options and settings of `blurb.run`, such as `data="data"`, `jobs=2`
    :raises BlurbError: if there are no checkpoints, or the trials cannot be planned
    """
    wrong = ErrorCollector()
    places = [runs] if isinstance(runs, str | Path) else list(runs)
    with wrong:
        checkpoints = finding.find(places, pattern, not trials.get("tokenizer"))
        finding.check_required(checkpoints, require)
    with wrong:
        names = names_of(tasks, trials.get("suite"))
        scoring = Scoring(names, protocol, split, Path(output), trials)
        unread = [name for name in sorted(trials.keys() - PLAIN) if trials[name] is not None]
        unread += [] if budget is None else ["budget"]
        if unread and not run:
            raise SettingsError(
                f"{opt(unread[0])} has no effect where nothing is scored", fix="remove it."
            )
    for name in (protocol, full or protocol):
        with wrong:
            protocols.load_protocol_file(name)
    with wrong:
        seconds = None if budget is None else budget_seconds(budget)
    with wrong:
        if not run:
            Store(Path(output)).check_exists()
        lines = rows_of(beside, output)
    wrong.stop()
    score = scoring.score if run else scoring.read
    if seconds is not None:
        scored = conduct.within(
            checkpoints.steps,
            score,
            protocol,
            scoring.value,
            seconds,
            there=scoring.stored(checkpoints.steps),
        )
    else:
        scored = conduct.everything(checkpoints.steps, score, protocol)
    present = replace(scoring.series(scored, checkpoints), beside=tuple(lines))
    if full is not None:
        present = replace(present, full={full: conduct.best_and_last(present, score, full)})
    # No panel of the picture has a line of these.
    lost = [row for row in present.beside if not row.means(split).keys() & set(present.datasets)]
    scoring.notes.extend(
        f"{row.name} has no score of {split} on these datasets, so it is not drawn." for row in lost
    )
    return scoring.with_notes(present, checkpoints)


def watch(
    runs: Annotated[str | Path | Sequence[str | Path], RUNS],
    tasks: Annotated[str | Sequence[str], TASKS] = "all",
    *,
    protocol: Annotated[str, PROTOCOL] = "sketch",
    pattern: Annotated[str | None, PATTERN] = None,
    split: Annotated[ScoredSplit, SPLIT] = "dev",
    pause: Annotated[str | float, Option(help="Time between two looks.", metavar="TIME")] = "30s",
    idle: Annotated[
        str, Option(help="A run without a new checkpoint for so long has ended.", metavar="TIME")
    ] = "2h",
    output: Annotated[Path | str, OUTPUT] = "runs",
    check: Annotated[
        RowReference | None,
        Option(
            help="Compare each checkpoint with this baseline, as blurb check does.",
            metavar="ROW",
            complete="rows_anywhere",
        ),
    ] = None,
    rules: Annotated[
        Path | str | Rules | None, Option(help="Rules for --check.  [default: blurb-check.toml]")
    ] = None,
    state: Annotated[
        Path | str | None,
        Option(
            help="With --check: the checkpoints share its level; FILE remembers them.",
            metavar="FILE",
        ),
    ] = None,
    looks: Annotated[
        int | None, Option(help="With --state: checkpoints that will be checked.", metavar="N")
    ] = None,
    sd: Annotated[
        float | None,
        Option(
            help="With --check: standard deviation between runs, if none show it.", metavar="POINTS"
        ),
    ] = None,
    seen: Seen | None = None,
    told: Told | None = None,
    **trials: Any,
) -> Series:
    """Scores each checkpoint of a training as it appears, until the run ends; returns all of them.

    :param pause: time between two looks at the folders: seconds, or such as "30s"
    :param idle: such as "2h": a run without a new checkpoint for so long has ended
    :param check: a baseline, with which each checkpoint is compared; rules, state, looks and sd as of `blurb.check`
    :param seen: called after each checkpoint with the series so far, the row of the new one (None if it failed) and the
        decision of its check (None without one)
    :param told: called with a sentence for each folder that stays left out, and for a place that cannot be read
    :param trials: options and settings of `blurb.run`; other parameters as of `blurb.series`
    :raises BlurbError: for options or tasks that cannot be
    """
    wrong = ErrorCollector()
    with wrong:
        names = names_of(tasks, trials.get("suite"))
    with wrong:
        seconds = budget_seconds(idle, opt("idle"))
    with wrong:
        pause = f"{pause}s" if str(pause).replace(".", "", 1).isdecimal() else str(pause)
        between = budget_seconds(pause, opt("pause"))
    places = [runs] if isinstance(runs, str | Path) else list(runs)
    with wrong:
        finding.check_places(places)
    with wrong:
        protocols.load_protocol_file(protocol)
    with wrong:
        judge = _judge(check, output, rules, state=state, looks=looks, sd=sd)
    wrong.stop()
    scoring = Scoring(names, protocol, split, Path(output), {"progress": False, **trials})
    scored: dict[str, Scored] = {}

    def so_far(checkpoints: finding.FoundCheckpoints) -> Series:
        return scoring.series(
            [*({s.name: Scored(s) for s in checkpoints.steps} | scored).values()], checkpoints
        )

    look = partial(finding.find_present, places, pattern, not trials.get("tokenizer"))

    def score(step: Step) -> None:
        scored[step.name] = Scored(step, row := scoring.of_step(step))
        decision = None if row is None or judge is None else judge(row, split=split, tasks=names)
        if seen is not None:
            seen(so_far(look()), row, decision)

    return so_far(conduct.watch(look, score, between, seconds, told))


def _judge(
    check: RowReference | None, output: Path | str, rules: Any, **shared: Any
) -> Callable[..., Decision] | None:
    """A function that compares a checkpoint with the baseline, which is read now; None without a baseline.

    :raises BlurbError: for a baseline or rules that cannot be read, and for options of a check without one
    """
    wrong = ErrorCollector()
    if check is None:
        for name, value in {"rules": rules, **shared}.items():
            if value is not None:
                wrong.add(
                    SettingsError(f"{opt(name)} needs {opt('check')} with the row to compare with.")
                )
        wrong.stop()
        return None
    rows = list[Row]()
    with wrong:
        rows.append(row_of(check, output))
    with wrong:
        chosen = read_rules(rules, rows=rows)
    wrong.stop()
    return partial(gate, baseline=rows[0], rules=chosen, output=output, **shared)


def bisect(
    run: Annotated[str | Path, Argument(metavar="RUN_DIR")],
    task: Annotated[str, Option(help="Dataset to judge by.", complete="one_task")],
    drop: Annotated[
        float,
        Option(
            help="Points of dev by which the last checkpoint is worse.", above=0, unit=" points"
        ),
    ],
    *,
    protocol: Annotated[str, PROTOCOL] = "sketch",
    pattern: Annotated[str | None, PATTERN] = None,
    good: Annotated[
        int | None, Option(help="A good step.  [default: the first]", low=0, metavar="STEP")
    ] = None,
    bad: Annotated[
        int | None, Option(help="A bad step.  [default: the last]", low=0, metavar="STEP")
    ] = None,
    error: Annotated[
        float,
        Option(
            help="Probability of any wrong answer, held by as many seeds as it needs.",
            above=0,
            below=1,
        ),
    ] = 0.05,
    seeds: Annotated[
        int, Option(help="Fine-tunings of both ends, to begin with.", low=1, most=bisecting.MOST)
    ] = bisecting.SEEDS,
    output: Annotated[Path | str, OUTPUT] = "runs",
    told: Told | None = None,
    **trials: Any,
) -> Bisection:
    """Finds the first bad checkpoint of a run in about log2(n) evaluations, if there is one change.

    :param task: name of the dataset
    :param drop: points of dev by which the last checkpoint is worse than the good one
    :param good: step that is good; the first by default
    :param bad: step that is bad; the last by default
    :param error: of the whole search, held by as many fine-tunings of each checkpoint as it needs
    :param seeds: fine-tunings of both ends, from which their number follows
    :param told: called with a sentence for each checkpoint that was looked at
    :param trials: options and settings of `blurb.run`
    :raises BlurbError: for a run without checkpoints, or ends that cannot be scored
    """
    checkpoints = finding.find([run], pattern, not trials.get("tokenizer"))
    say = told or (lambda text: None)
    for note in checkpoints.left_out:
        say(note)
    if len(names := names_of(task, trials.get("suite"))) > 1:
        raise SettingsError(f"Choose one dataset (got {', '.join(names)}).")
    (name,) = names
    steps = {step.step: step for step in checkpoints.steps}
    for step in (good, bad):
        if step is not None and step not in steps:
            raise SettingsError(
                f"There is no step {step} in {run}",
                fix=f"choose one of {', '.join(map(str, steps))}.",
            )
    between = [
        step for step in steps if (good or 0) <= step <= (bad if bad is not None else max(steps))
    ]

    def evaluate(step: int, count: int) -> Mapping[str, Sequence[float]]:
        scoring = Scoring(
            [name], protocol, "dev", Path(output), {"progress": False, **trials, "seeds": count}
        )
        row = scoring.score([steps[step]], protocol).get(steps[step].name)
        say(f"Step {step}: {'; '.join(scoring.told) or f'scored with seeds 1 to {count}.'}")
        if row is None:
            return {}
        return {"score": row.values(name, "dev")[:count], "loss": losses(row, name)[:count]}

    return bisecting.bisect(between, evaluate, drop, error, seeds)
