"""A series from made-up rows: curves, table, page, picture and what is scored in a limited time."""

import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import blurb
from blurb.extensions.reports.html import svg
from blurb.extensions.reports.html.collect import collect
from blurb.extensions.reports.html.render import render
from blurb.extensions.series import conduct, page, smoothing
from blurb.extensions.series.api import checkpoint_rows
from blurb.extensions.series.api.checkpoint_rows import Scoring
from blurb.extensions.series.curves import Curve, Family, Point, Scored, Step
from blurb.extensions.series.series import PICTURE, Series
from blurb.extensions.series.smoothing import Measure, needs_log_axis
from blurb.messages.errors import BlurbError, DataError, ErrorGroup, ModelError, SettingsError
from blurb.results import from_store
from blurb.results.row import Origin, Row
from blurb.results.score import DatasetScores, Figure, Run
from blurb.store.trial import Configuration
from blurb.terminal.output import list_written
from tests.results import invented
from tests.rewriting import csv_lines

DATASETS = ("gad", "hoc")


def made_row(
    name: str,
    scores: Mapping[str, Sequence[float]],
    losses: Mapping[str, float] | None = None,
    split: str = "dev",
) -> Row:
    """A row with some scores on a split, and the losses of its heads on dev."""
    datasets = {}
    for task, values in scores.items():
        loss = {"log_loss": Figure((losses or {}).get(task, 0.5))}
        runs = {
            seed: Run(
                {"dev": loss, split: {"f1": Figure(value), **(loss if split == "dev" else {})}}
            )  # type: ignore[dict-item]
            for seed, value in enumerate(values, 1)
        }
        datasets[task] = DatasetScores(task, metric="f1", runs=runs, planned=len(runs))
    return Row(name, Configuration("sketch", "0" * 64, {}, "fp32", "blurb"), datasets, Origin.STORE)


def _series(holes: Sequence[int] = (), runs: Sequence[str] = ("a", "b")) -> Series:
    generator = np.random.default_rng(0)
    scored = []
    for run in runs:
        for place in range(12):
            step = Step(
                run,
                100 * (place + 1),
                "",
                1_000 * (place + 1),
                figures={"bits per byte": 2 - 0.05 * place},
            )
            gad = [60 + place + generator.normal(), 60 + place + generator.normal()]
            row = made_row(
                step.name, {"gad": gad, "hoc": [50.0, 50.2]}, {"gad": 0.7 - 0.02 * place}
            )
            scored.append(Scored(step, None if place in holes else row))
    return Series(tuple(scored), DATASETS, "sketch")


def test_the_mean_is_over_the_datasets_of_each_fine_tuning() -> None:
    series = _series()
    first = series.family("mean").curves[0].points[0]
    row = series.scored[0].row
    pairs = zip(row.values("gad", "dev"), row.values("hoc", "dev"), strict=True)
    assert first.value == pytest.approx(statistics.fmean(statistics.fmean(pair) for pair in pairs))
    assert first.runs == 2
    assert first.half is not None


def test_sets_that_see_the_runs_improve_are_named_and_others_too() -> None:
    text = "\n".join(_series().reading())
    assert (
        "By score, the change is more than noise on mean, gad; no change is told from noise on hoc."
        in text
    )
    assert "a: the trend of mean is highest at step 1200" in text


def test_a_falling_loss_is_an_improvement() -> None:
    family = _series().family("gad", "loss")
    assert family.best(family.curves[0]).place == 11


def test_a_sudden_fall_is_told_with_its_steps_and_nothing_else_is() -> None:
    sound = _series()
    assert not [sentence for sentence in sound.reading() if "becomes worse" in sentence]
    broken = [
        replace(
            one,
            row=made_row(one.step.name, {"gad": [40.0, 40.4], "hoc": [50.0, 50.2]}, {"gad": 0.7}),
        )
        if one.step.run == "b" and one.step.step >= 900
        else one
        for one in sound.scored
    ]
    (told,) = [
        text for text in replace(sound, scored=tuple(broken)).reading() if "becomes worse" in text
    ]
    assert told.startswith("b becomes worse from step 800 to 900: ")
    assert [" gad by 2" in told, "the loss on gad by 0.1" in told, "hoc by" in told, "bits" in told] == [
        True, True, False, False,
    ]  # fmt: skip


def test_a_point_whose_runs_fell_apart_does_not_flatten_the_picture() -> None:

    sound = _series()
    torn = made_row("a@500", {"gad": [20.0, 110.0], "hoc": [50.0, 50.2]}, {"gad": 0.5})
    scored = [replace(one, row=torn) if one.step.name == "a@500" else one for one in sound.scored]
    picture = replace(sound, scored=tuple(scored)).plot()
    (panel,) = [axes for axes in picture.axes if axes.get_title("left") == "gad, dev × 100"]
    low, high = panel.get_ylim()
    assert 50 < low < high < 80
    assert "gad, loss on dev" in [axes.get_title("left") for axes in picture.axes]


def test_the_table_has_a_line_for_every_value(tmp_path: Path) -> None:
    _series(holes=[3]).write(tmp_path, picture=False)
    lines = csv_lines(tmp_path / "series.csv")
    # Mean, scores and losses of 11 steps, a figure of all 12
    assert len(lines) == 2 * (11 * (1 + 2 + 2) + 12)
    gad = [
        line
        for line in lines
        if (line["run"], line["dataset"], line["measure"]) == ("a", "gad", "score")
    ]
    assert [line["step"] for line in gad] == [
        str(100 * (place + 1)) for place in range(12) if place != 3
    ]
    assert gad[0]["words"] == "1000"
    assert {line["split"] for line in lines if line["measure"] == "figure"} == {""}


def test_the_page_says_what_has_no_score(tmp_path: Path) -> None:
    page = _series(holes=[3, 4]).markdown()
    assert "24 checkpoints of 2 runs, 20 of them scored by `sketch`" in page
    assert "a: 2 checkpoints of 12 without scores: step 400, 500." in page
    assert "| a | 400 | 4,000 | – | – | – | 1.850 |" in page


def test_the_page_has_no_link_to_a_picture_that_was_not_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for picture, said in (
        (True, ""),
        (False, "No series.png: it needs Matplotlib (pip install matplotlib).\n"),
    ):
        folder = tmp_path / str(picture)
        list_written(_series().write(folder, picture), PICTURE)
        assert (
            ("](series.png)" in (folder / "README.md").read_text())
            is picture
            is (folder / PICTURE).is_file()
        )
        assert capsys.readouterr().err.partition("series.csv\n")[2] == (
            f"Wrote {folder / PICTURE}\n" if picture else said
        )


def test_the_picture_breaks_at_holes(tmp_path: Path) -> None:
    mean = _series(holes=[5], runs=["a"]).plot().axes[0]
    pieces = [
        line for line in mean.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 2
    ]
    assert [len(line.get_xdata()) for line in pieces] == [5, 6]
    crosses = [line for line in mean.lines if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[600]]
    _series().plot(tmp_path / "series.png")
    assert (tmp_path / "series.png").stat().st_size > 10_000


def test_a_checkpoint_that_lacks_a_dataset_is_a_hole_of_its_curve_and_of_the_mean() -> None:
    series = _series(runs=["a"])
    own = list(series.scored)
    row = own[5].row
    own[5] = Scored(own[5].step, replace(row, datasets={"gad": row.datasets["gad"]}))
    partly = replace(series, scored=tuple(own))
    lines = [line for line in partly.reading() if "no score of" in line]
    (other,) = (name for name in DATASETS if name != "gad")
    assert lines == [f"a: step 600 has no score of {other}, and no mean."]
    assert "11 of them scored" in partly.markdown()
    figure = partly.plot()
    panels = {
        axes.get_title("left"): axes
        for axes in figure.axes
        if "dev × 100" in axes.get_title("left")
    }
    assert {
        title.partition(",")[0]: [
            list(line.get_xdata()) for line in axes.lines if line.get_marker() == "x"
        ]
        for title, axes in panels.items()
    } == {"mean": [[600]], "gad": [], other: [[600]]}


def test_an_axis_is_logarithmic_where_the_first_gap_is_small() -> None:
    assert needs_log_axis([0, 1, 2, 5, 10, 1_000])
    assert not needs_log_axis([100, 200, 300, 1_000])
    assert not needs_log_axis([5])


def test_the_ticks_of_a_logarithmic_axis_are_numbers() -> None:
    """Names may have dollars in them, so the style has no formulas, as which Matplotlib writes powers of ten."""
    series = _series(runs=["a"])
    steps = (
        replace(one, step=replace(one.step, step=10**place))
        for place, one in enumerate(series.scored)
    )
    axes = replace(series, scored=tuple(steps)).plot().axes[0]
    axes.figure.draw_without_rendering()
    labels = [tick.get_text() for tick in axes.get_xticklabels() if tick.get_text()]
    assert axes.get_xscale() == "log"
    assert "100" in labels
    assert not any("$" in label for label in labels)


def test_a_series_without_scores_writes_nothing(tmp_path: Path) -> None:
    empty = Series((Scored(Step("a", 1, "")),), DATASETS, "sketch")
    with pytest.raises(BlurbError, match="No checkpoint has a score by 'sketch'; check --protocol"):
        empty.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert empty.reading() == ["No checkpoint has a score yet."]


def test_the_best_and_the_last_get_the_dearer_protocol() -> None:
    series = _series()
    asked: list[str] = []

    def score(steps: Sequence[Step], protocol: str) -> Mapping[str, Row]:
        asked.extend(f"{protocol} {step.name}" for step in steps)
        return {}

    best = [series.best(run) for run in ("a", "b")]
    conduct.best_and_last(series, score, "quick")
    expected = [f"quick {one.step.name}" for one in best if one is not None] + [
        "quick a@1200",
        "quick b@1200",
    ]
    assert sorted(set(asked)) == sorted(set(expected))
    assert len(asked) == len(set(asked))


def test_a_budget_scores_as_many_as_fit_and_goes_round_failures() -> None:
    steps = [Step("a", round(100 * 1.5**place), "") for place in range(20)]
    clock = [0.0]
    looked: list[int] = []

    def score(asked: Sequence[Step], protocol: str) -> Mapping[str, Row]:
        clock[0] += 60
        looked.extend(step.step for step in asked)
        ok = [step for step in asked if step != steps[19]]
        return {step.name: made_row(step.name, {"gad": [60 + math.log(step.step)]}) for step in ok}

    scored = conduct.within(
        steps, score, "sketch", lambda row: row.means("dev")["gad"], 600, lambda: clock[0]
    )
    assert len(looked) == 10  # 600 seconds of 60
    assert len(set(looked)) == 10
    # The last failed, the one before is the end
    assert looked[:3] == [steps[0].step, steps[19].step, steps[18].step]
    assert [one.step for one in scored] == steps
    assert sum(one.row is not None for one in scored) == 9


def test_what_is_scored_already_takes_no_time() -> None:
    steps = [Step("a", 100 * place, "") for place in range(1, 6)]
    there = {step.name: made_row(step.name, {"gad": [60.0]}) for step in steps}

    scored = conduct.within(
        steps,
        lambda *given, **more: pytest.fail("nothing is left to score"),
        "sketch",
        lambda row: row.means("dev")["gad"],
        1,
        there=there,
    )
    assert all(one.row is not None for one in scored)


def _curve(run: str, name: str, measure: Measure, values: Sequence[float]) -> Curve:
    points = [
        Point(Step(run, 1_000 * place, ""), value, None, 1) for place, value in enumerate(values, 1)
    ]
    return Curve(run, name, measure, tuple(points))


@pytest.mark.parametrize("sizes", [[8, 8, 8], [12, 3, 3], [8, 3, 3, 3, 3, 3, 3, 3, 3, 3]])
def test_noise_alone_falls_in_a_twentieth_of_series(
    sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Curves too short to know their noise are not searched: no fall of theirs was drawn by chance."""
    families = []
    generator = np.random.default_rng(3)
    for _ in range(600):
        curves = [
            _curve(f"r{number}", "gad", Measure.SCORE, 80 + generator.standard_normal(size))
            for number, size in enumerate(sizes)
        ]
        families.append(Family("gad", Measure.SCORE, tuple(curves), False))
    chance = smoothing.fall_by_chance(
        [curve.place_and_value(False) for curve in families[0].curves]
    )
    # The same for all, and slow
    monkeypatch.setattr(smoothing, "fall_by_chance", lambda curves, level: chance)
    assert 0.02 <= sum(any(family.falls(0.05)) for family in families) / len(families) <= 0.08


@pytest.mark.parametrize(
    ("name", "told"), [("masked accuracy", False), ("perplexity", True), ("bits per byte", True)]
)
def test_a_figure_falls_only_if_its_name_tells_what_is_better(name: str, told: bool) -> None:
    rising = [0.30, 0.31, 0.32, 0.325, 0.33, 0.335, 0.60, 0.61, 0.612, 0.615]
    family = Family(name, Measure.FIGURE, (_curve("a", name, Measure.FIGURE, rising),), False)
    assert [place for _, place, _, _ in family.falls(0.05)] == ([5] if told else [])
    trend, _ = family.trend(family.curves[0])
    assert trend[0] == pytest.approx(0.3, abs=0.02)


def test_equal_values_are_all_alike() -> None:
    """A deviation of zero must not let rounding choose the best step."""
    curve = _curve("a", "gad", Measure.SCORE, [100 * (8 / 13)] * 6)
    best = Family("gad", Measure.SCORE, (curve,), False).best(curve)
    assert (best.place, best.alike) == (0, (0, 1, 2, 3, 4, 5))


def test_an_axis_is_logarithmic_by_the_gaps_within_a_run() -> None:
    plain = list(range(5_000, 100_001, 5_000))
    assert not needs_log_axis(plain, [step + 100 for step in plain])
    assert needs_log_axis(plain, [1, 2, 5, 100_000])


def test_scores_of_some_datasets_are_no_mean_and_are_told() -> None:
    scored = [
        Scored(Step("a", at, ""), made_row(f"a@{at}", {"gad": [60.0 + at]})) for at in range(1, 7)
    ]
    sentences = Series(tuple(scored), DATASETS, "sketch").reading()
    assert sentences[0].startswith("No checkpoint has all 2 datasets, so there is no mean")
    assert "scores of gad (--tasks chooses)" in sentences[0]


def test_no_spreadsheet_executes_the_name_of_a_run(tmp_path: Path) -> None:
    scored = [
        Scored(Step("=1+1", at, ""), made_row(f"=1+1@{at}", {"gad": [60.0 + at]}))
        for at in range(1, 6)
    ]
    Series(tuple(scored), ("gad",), "sketch").write(tmp_path, picture=False)
    assert {line["run"] for line in csv_lines(tmp_path / "series.csv")} == {"'=1+1"}


# The curves of checkpoints on the page, from the table that `blurb series` writes.


HEAD = "run,step,words,tokens,protocol,dataset,measure,split,value,half,runs,trend,trend_half,noise"
WHAT = (
    ("sketch", "gad", "score"), ("sketch", "gad", "loss"), ("quick", "gad", "score"), ("", "bits per byte", "figure"),
)  # fmt: skip
LINES = [
    f"{run},{step},,,{protocol},{dataset},{measure},dev,{value},,1,{value},{half},0.5"
    for run in ("a", "b<c>")
    for protocol, dataset, measure in WHAT
    for step, value, half in ((1, 60.0, 2.0), (10, 62.0, 1.0), (100, 65.0, 1.0), (1000, 66.0, 2.0))
]


def _write(folder: Path, lines: list[str]) -> Path:
    (folder / "series.csv").write_text("\n".join([HEAD, *lines]) + "\n")
    return folder


def test_scores_of_all_checkpoints_and_figures_are_charts(tmp_path: Path) -> None:
    charts = page.SeriesFolder(_write(tmp_path, LINES)).charts()
    assert [(chart.title, chart.logarithmic) for chart in charts] == [
        ("gad", True),
        ("bits per byte", True),
    ]
    assert [run for run, _ in charts[0].runs] == ["a", "b<c>"]
    assert charts[0].runs[0][1] == [
        (1, 60, 60, (58, 62)),
        (10, 62, 62, (61, 63)),
        (100, 65, 65, (64, 66)),
        (1000, 66, 66, (64, 68)),
    ]


def test_points_stand_where_their_numbers_are(tmp_path: Path) -> None:
    """On a logarithmic axis the steps 1, 10, 100, 1,000 are at equal distances; a higher score is higher up."""
    drawn = svg.series(page.SeriesFolder(_write(tmp_path, LINES)).charts()[0])
    spots = re.findall(r'<circle class="dot" cx="([\d.]+)" cy="([\d.]+)"', drawn)[:4]
    x, y = ([float(one[place]) for one in spots] for place in (0, 1))
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)
    assert x[2] - x[1] == pytest.approx(x[3] - x[2], abs=0.2)
    assert y == sorted(y, reverse=True)
    assert (y[0] - y[1]) / (y[1] - y[2]) == pytest.approx(2 / 3, abs=0.02)
    assert "b&lt;c&gt;" in drawn
    assert "b<c>" not in drawn


def test_the_page_has_them(tmp_path: Path) -> None:
    drawn = render(collect(tmp_path / "none", series=page.SeriesFolder(_write(tmp_path, LINES))))
    assert '<a href="#series">Checkpoints</a>' in drawn
    assert "a is blue, b&lt;c&gt; is grey." in drawn
    assert drawn.count('class="r0"') == 2


def test_what_is_no_such_table(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no series\.csv here"):
        page.SeriesFolder(tmp_path).charts()
    with pytest.raises(DataError, match=r"series\.csv:2: step, value and trend must be numbers"):
        page.SeriesFolder(_write(tmp_path, [LINES[0].replace("60.0", "high")])).charts()
    (tmp_path / "series.csv").write_text("run,step\n")
    with pytest.raises(DataError, match="columns are missing: protocol"):
        page.SeriesFolder(tmp_path).charts()


# The rows of checkpoints in a store: of the weights, the suite, the precision and the seeds that were asked for.


STEP = Step("a", 1, ".")
Read = Callable[..., tuple[Row | None, Scoring]]


def _row(
    values: list[float],
    weights: str = "now",
    suite: str = "blurb",
    precision: str = "fp32",
    tokenizer: str = "own",
) -> Row:
    configuration = Configuration("sketch", "0" * 64, {}, precision, suite, "")
    return invented.named(
        made_row("a@1", {"gad": values}),
        weights=weights,
        tokenizer=tokenizer,
        configuration=configuration,
    )


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Read:
    monkeypatch.setattr(
        checkpoint_rows, "Checkpoint", lambda folder: SimpleNamespace(weights_hash="now")
    )
    monkeypatch.setattr(
        checkpoint_rows,
        "resolve_model",
        lambda at, tokenizer, **_: SimpleNamespace(tokenizer=tokenizer or "own"),
    )

    def rows(there: list[Row], **trials: Any) -> tuple[Row | None, Scoring]:
        monkeypatch.setattr(from_store, "read", lambda store: there)
        scoring = Scoring(["gad"], "sketch", "dev", tmp_path, trials)
        return scoring.read([STEP], "sketch").get("a@1"), scoring

    return rows


def test_a_row_of_other_weights_is_told_and_not_shown(read: Read) -> None:
    row, scoring = read([_row([60.0], weights="before")])
    assert row is None
    assert scoring.told == [
        "a@1: the store has the scores of other weights or of another tokenizer; without --read it is scored."
    ]


def test_rows_are_of_the_tokenizer_that_was_asked_for(read: Read) -> None:
    """Those of a tokenizer that was given were shown as the checkpoint's own, and these in its place."""
    there = [_row([60.0]), _row([70.0], tokenizer="given")]
    for trials, value in (({}, 60), ({"tokenizer": "given"}, 70)):
        row, _ = read(there, **trials)
        assert row.means("dev")["gad"] == pytest.approx(value)
    assert read(there[:1], tokenizer="given")[0] is None
    row, scoring = read(there[1:])
    assert (row, scoring.stored([STEP])) == (None, {})
    assert not scoring.past([Step("a", 2, ".")])
    assert read(there[:1])[1].past([Step("a", 2, ".")])


def test_rows_are_of_the_suite_and_precision_that_were_asked_for(read: Read) -> None:
    there = [_row([60.0]), _row([70.0], suite="demo"), _row([80.0], precision="bf16")]
    for trials, value in (
        ({"suite": "demo"}, 70),
        ({"precision": "bf16"}, 80),
        ({"precision": "fp32"}, 60),
    ):
        row, scoring = read(there, **trials)
        assert row.means("dev")["gad"] == pytest.approx(value)
        assert not scoring.notes
    _, scoring = read(there)
    (note,) = scoring.notes
    assert note.startswith(
        "The store has rows by sketch fp32, sketch bf16; each checkpoint shows its first"
    )


def test_seeds_of_a_search_are_no_part_of_a_series(read: Read) -> None:
    """`blurb bisect` leaves more fine-tunings of some checkpoints, whose mean would be drawn beside single runs."""
    row, _ = read([_row([60.0, 10.0, 0.0])])
    assert row.values("gad", "dev") == [60.0]  # sketch has one seed
    row, _ = read([_row([60.0, 10.0, 0.0])], seeds=2)
    assert row.values("gad", "dev") == pytest.approx([60.0, 10.0])


def test_a_checkpoint_that_is_none_does_not_end_a_watch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scoring = Scoring(["gad"], "sketch", "dev", tmp_path, {})
    errors: list[Exception] = [
        ModelError("no tokenizer."),
        ErrorGroup([ModelError("a."), ModelError("b.")]),
    ]

    def score(self: Scoring, steps: object, protocol: str) -> SimpleNamespace:
        raise errors.pop(0)

    monkeypatch.setattr(Scoring, "score", score)
    assert scoring.of_step(STEP) is None
    assert scoring.of_step(STEP) is None
    assert len(scoring.told) == 2
    errors.append(SettingsError("no data."))
    with pytest.raises(SettingsError):
        scoring.of_step(STEP)


@pytest.mark.parametrize(
    ("trials", "there"),
    [({}, True), ({"seeds": 2}, False), ({"lr": 0.01}, False), ({"device": "cpu"}, True)],
)
def test_only_what_this_call_would_score_is_there_already(
    read: Read, trials: dict[str, Any], there: bool
) -> None:
    """`--budget` takes the rest for unscored, and what is done costs no time."""
    from blurb.training import hardware

    own = hardware.choose_precision("auto", hardware.choose_device("cpu"))
    _, scoring = read([_row([60.0], precision=own)], **trials)
    assert bool(scoring.stored([STEP])) is there


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: blurb.series("a", output=None), "output must be of type Path | str (got None)"),
        (lambda: blurb.watch("a", output=None), "output must be of type Path | str (got None)"),
        (lambda: blurb.bisect("a", "gad", 1.0, output=None), "output must be of type"),
        (lambda: blurb.watch("a", pause=30), "there is no such folder"),
        (lambda: blurb.series("a", require=10), "require must be a list, each a whole number"),
        (lambda: blurb.series("a", beside="mine"), "beside must be of type"),
        (lambda: blurb.series("a", run=False, budget="5m"), "budget= has no effect"),
        (lambda: blurb.series("a", run=False, lr=0.1), "lr= has no effect"),
        (lambda: blurb.series("a", run=False), "There is no store at runs"),
        (lambda: Scoring(["gad"], "sketch", "dev", Path(), {"sets": 1}), "called 'sets'"),
        (lambda: Scoring(["gad"], "sketch", "dev", Path(), {"precision": "b"}), "precision must"),
    ],
)  # fmt: skip
def test_an_argument_that_is_not_understood_is_told_before_anything_is_scored(
    call: Callable[[], object], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BlurbError, match=re.escape(told)):
        call()
