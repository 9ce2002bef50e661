"""What a request becomes. Oracle: `itertools.product` of what was asked for, and the files that stand in the store."""

import itertools
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from blurb import tasks
from blurb.checkpoints import ModelSource
from blurb.corpora import demo
from blurb.execution import sweeps
from blurb.execution.engine import Engine, Sweep
from blurb.execution.engines import here
from blurb.execution.job import Job, JobQueue, TrialOutcome
from blurb.learners import building
from blurb.learners.kinds import majority, probe
from blurb.messages.errors import SettingsError
from blurb.planning import steps, trials
from blurb.planning.request import Request
from blurb.planning.steps import check_row_names
from blurb.protocols import protocol
from blurb.store import row_trials as rows
from blurb.store.store import Store, read_json
from blurb.system import leases
from tests.conftest import Builder
from tests.planning.requests import request as requested
from tests.store import fakes

DATA = Path(__file__).parents[1] / "golden" / "data"
FIRST = ModelSource("first", "checkpoint", "nowhere", "a" * 64, "s" * 64, 20_000_000)
SECOND = ModelSource("second", "checkpoint", "nowhere", "b" * 64, "t" * 64, 110_000_000)
MAJORITY = building.resolve_model("baseline:majority")
CONSTANT = building.resolve_model("baseline:constant")


def request(
    store: Path, *sources: ModelSource, tasks_: str = "gad,ncbi-disease", **changes: Any
) -> Request:
    """A request on the golden data; `mean` asks nothing of a tokenizer, so no checkpoint has to be there."""
    overrides = {"pooling": "mean", **changes.pop("overrides", {})}
    name = changes.pop("protocol", "smoke")
    return requested(
        store,
        *sources,
        tasks_=tasks_,
        protocol_=name,
        overrides=overrides,
        **{"data": DATA, **changes},
    )


@dataclass
class Played(Engine):
    """Finishes every job with the score that it is told, and fails those that have none; notes what it was given."""

    score: Callable[[Job], float | None] = lambda job: 0.5
    given: list[list[Job]] = field(default_factory=list)

    def work(self, sweep: Sweep, turns: JobQueue) -> None:
        self.given.append(list(sweep.jobs))
        while (index := turns.next()) is not None:
            turns.end(index, self._one(sweep.jobs[index]))

    def _one(self, job: Job) -> TrialOutcome:
        if Store(job.store).is_done(job.path):
            return TrialOutcome(job, "already done")
        score = self.score(job)
        if score is None:
            return TrialOutcome(job, "failed", message="told to fail")
        fakes.finish(
            Store(job.store), job.source.name, job.trial, score, configuration=job.configuration
        )
        return TrialOutcome(job, "done")


def run(asked: Request, engine: Engine | None = None) -> list[TrialOutcome]:
    return trials.run(
        [trials.prepare(asked)], engine or here(), lambda outcome: None, lambda job, news: None
    )


def what(jobs: Sequence[Job]) -> list[tuple[str, str, int]]:
    return [(job.source.name, job.trial.task, job.trial.seed) for job in jobs]


def test_it_is_every_model_on_every_task_with_every_seed(tmp_path: Path) -> None:
    planned = trials.prepare(request(tmp_path, FIRST, SECOND, tasks_="hoc,gad,biosses", seeds=3))
    assert planned.searched == []
    names = ("gad", "biosses", "hoc")  # the paper's order, however they were typed
    assert what(planned.jobs) == list(itertools.product(("first", "second"), names, (1, 2, 3)))
    assert len({job.trial.hash for job in planned.jobs}) == 2 * 3 * 3
    assert {(job.source.name, job.trial.weights, job.trial.tokenizer) for job in planned.jobs} == {
        (source.name, source.weights, source.tokenizer) for source in (FIRST, SECOND)
    }
    families = {(job.source.name, job.trial.task, job.trial.family) for job in planned.jobs}
    assert len(families) == 2 * 3  # seeds share one
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "seeds", "counts"),
    [
        ("quick", None, {"gad": 1, "biosses": 1}),
        (
            "standard",
            None,
            {"gad": 5, "biosses": 10},
        ),  # Gu et al., section 2.5: ten for BIOSSES, BioASQ, PubMedQA
        ("standard", 2, {"gad": 2, "biosses": 2}),
        ("probe", None, {"gad": 1, "biosses": 1}),
        ("probe", 1, {"gad": 1, "biosses": 1}),
    ],
)
def test_seeds_are_those_of_the_protocol_or_of_the_command(
    name: str, seeds: int | None, counts: dict[str, int], tmp_path: Path
) -> None:
    asked = request(tmp_path, FIRST, MAJORITY, protocol=name, seeds=seeds)
    for task, count in counts.items():
        assert trials.seeds_of(asked, FIRST, tasks.get(task)) == tuple(range(1, count + 1))
        # Nothing in it is left to chance
        assert trials.seeds_of(asked, MAJORITY, tasks.get(task)) == (1,)


def test_a_probe_has_no_second_seed(tmp_path: Path) -> None:
    asked = replace(request(tmp_path, FIRST, protocol="probe", seeds=2), overrides={})
    with pytest.raises(SettingsError, match="--seeds"):
        trials.prepare(asked)
    # A baseline is one under every protocol
    assert len(trials.prepare(replace(asked, sources=[MAJORITY])).jobs) == 2


def test_an_override_is_in_the_trials_that_it_concerns_and_in_no_others(tmp_path: Path) -> None:
    names = "ncbi-disease,gad,biosses,hoc"

    def hashes(**overrides: Any) -> dict[tuple[str, str], str]:
        jobs = trials.prepare(
            request(tmp_path, FIRST, MAJORITY, tasks_=names, overrides=overrides)
        ).jobs
        assert all(
            job.configuration.overrides.items() <= {"pooling": "mean", **overrides}.items()
            for job in jobs
        )
        return {(job.source.name, job.trial.task): job.trial.hash for job in jobs}

    def changed(**overrides: Any) -> set[str]:
        after = hashes(**overrides)
        return {"/".join(key) for key in plain if plain[key] != after[key]}

    plain = hashes()
    encoders = {f"first/{task}" for task in names.split(",")}
    baselines = {f"baseline:majority/{task}" for task in names.split(",")}
    assert changed(lr=0.5) == encoders
    assert changed(tagging="io") == {"first/ncbi-disease"}
    assert changed(word_pooling="last") == {"first/ncbi-disease"}
    assert changed(relation_input="dummy-tokens") == {"first/gad"}
    assert changed(document_unit="abstract") == {"first/hoc", "baseline:majority/hoc"}
    # Every word is labelled there
    assert changed(pooling="attention") == encoders - {"first/ncbi-disease"}
    assert changed(max_train=9) == encoders | baselines
    # Settings that came later, at their defaults
    assert changed(head_lr=0.0, dev_sample=0) == set()
    assert changed(max_eval=0) == encoders | baselines  # smoke has a limit of its own
    assert changed(eval_seed=5) == encoders | baselines
    assert hashes(max_eval=0) == hashes(max_eval=0, eval_seed=5)  # nothing is drawn


def test_a_row_of_a_baseline_hangs_on_what_changes_its_answers_alone(tmp_path: Path) -> None:
    def key(source: ModelSource, precision: str = "fp32", **changes: Any) -> str:
        return replace(request(tmp_path, source, **changes), precision=precision).row(source).key

    for source, same in ((MAJORITY, True), (FIRST, False)):
        assert (key(source) == key(source, overrides={"lr": 0.5})) is same
        assert (key(source) == key(source, "bf16")) is same
        assert key(source) != key(source, overrides={"max_train": 9})
        assert key(source) != key(source, protocol="quick")
        assert key(source) != key(source, suite="demo")
    probes = request(tmp_path, FIRST, MAJORITY, protocol="probe")
    assert (probes.row(FIRST).learner, probes.row(MAJORITY).learner) == ("probe", "")
    assert (probes.row(FIRST).recipe, probes.row(MAJORITY).recipe) == (
        probe.LEARNER.recipe,
        majority.LEARNER.recipe,
    )
    assert probes.configuration(FIRST).note == protocol.load_protocol_file("probe").note != ""
    assert probes.configuration(MAJORITY).note == ""  # it is no probe of anything


def test_inputs_with_names_are_read_from_the_original_release(tmp_path: Path) -> None:
    asked = request(tmp_path, FIRST, tasks_="ddi", overrides={"relation_input": "original"})
    with pytest.raises(SettingsError, match="--raw"):
        trials.prepare(asked)
    (job,) = trials.prepare(replace(asked, raw=DATA)).jobs
    (masked,) = trials.prepare(request(tmp_path, FIRST, tasks_="ddi", raw=DATA)).jobs
    assert (job.data.original, masked.data.original) == (True, False)
    assert job.trial.data != masked.trial.data


def test_a_single_pair_is_told_before_anything_is_trained(tmp_path: Path) -> None:
    for setting in ("max_eval", "dev_sample"):
        asked = request(tmp_path, FIRST, tasks_="gad,biosses", overrides={setting: 1})
        with pytest.raises(SettingsError, match=r"biosses: .* at least two pairs .*\(got 1\)"):
            trials.prepare(asked)


def test_what_a_model_has_met_is_told_by_what_it_is_and_not_by_its_name(
    checkpoint: Builder, tmp_path: Path
) -> None:
    made = steps.load_source("scratch:tiny", "mine", None, False, demo.prepare())
    other = steps.load_source(checkpoint("roberta"), "scratch:mine", None, False, demo.prepare())
    asked = request(tmp_path, MAJORITY)
    assert [asked.met(one) for one in (MAJORITY, made, other)] == ["none", "none", ""]


def test_models_that_would_share_a_row_are_refused() -> None:
    check_row_names([FIRST.name, SECOND.name, MAJORITY.name])
    with pytest.raises(SettingsError, match="'first'"):
        check_row_names([FIRST.name, FIRST.name])
    for name in ("", " ", "a\nb", "x" * 300):
        with pytest.raises(SettingsError, match="--name"):
            check_row_names([name])


def test_the_store_says_which_trials_make_which_row(tmp_path: Path) -> None:
    asked = request(tmp_path, FIRST, SECOND, MAJORITY, seeds=2)
    outcomes = run(asked, Played())
    written = {path.parent.relative_to(tmp_path) for path in tmp_path.glob("*/*/*/DONE.json")}
    assert written == {outcome.job.path.relative_to(tmp_path) for outcome in outcomes}
    found = {row.model: row for row in rows.read(Store(tmp_path))}
    for source, seeds in ((FIRST, {1, 2}), (SECOND, {1, 2}), (MAJORITY, {1})):
        row = found.pop(source.name)
        assert row.key == asked.row(source).key
        assert {task: set(trials) for task, trials in row.trials.items()} == {
            "gad": seeds,
            "ncbi-disease": seeds,
        }
        hashes = {one for of in row.trials.values() for one in of.values()}
        assert hashes == {
            path.name for path in written if path.parts[0] == source.name.replace(":", "-")
        }
    assert found == {}


def test_what_is_done_is_not_run_again_and_what_is_new_joins_its_row(tmp_path: Path) -> None:
    engine = Played()
    run(request(tmp_path, FIRST, tasks_="gad", seeds=2), engine)
    before = {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.glob("*/*/*/*")
    }
    outcomes = run(request(tmp_path, FIRST, SECOND, seeds=3), engine)
    done = [outcome.job for outcome in outcomes if outcome.status == "already done"]
    assert what(done) == [("first", "gad", 1), ("first", "gad", 2)]
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in before} == before
    seeds = {
        row.model: {task: set(of) for task, of in row.trials.items()}
        for row in rows.read(Store(tmp_path))
    }
    assert seeds == {
        name: {"gad": {1, 2, 3}, "ncbi-disease": {1, 2, 3}} for name in ("first", "second")
    }


def test_trials_of_other_hashes_stay_and_only_those_of_one_kind_make_a_row(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    store = tmp_path / "runs"
    asked = replace(request(store, FIRST, tasks_="gad", seeds=2), data=data)
    first = {outcome.job.path for outcome in run(asked, Played())}
    lines = (data / "GAD" / "train.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    (data / "GAD" / "train.tsv").write_text("".join(lines[:-1]), encoding="utf-8")
    (outcome,) = run(replace(asked, seeds=1), Played())
    assert outcome.status == "done"  # on other data nothing is done yet
    (row,) = rows.read(Store(store))
    # Seed 2 of before must not be averaged with it
    assert row.trials == {"gad": {1: outcome.job.trial.hash}}
    assert set(store.glob("first/gad/*")) >= first | {outcome.job.path}
    run(replace(asked, overrides={"pooling": "mean", "lr": 0.5}), Played())
    assert len(rows.read(Store(store))) == 2


def searching(tmp_path: Path, *sources: ModelSource, **changes: Any) -> Request:
    """Three learning rates by two batch sizes; two seeds at the winner."""
    file = tmp_path / "searched.toml"
    file.write_text(
        "seeds = 2\n[all]\nepochs = 2\n[search]\nlr = [0.1, 0.2, 0.3]\nbatch_size = [8, 16]\n"
    )
    return request(tmp_path / "runs", *sources, protocol=str(file), **changes)


GRID = list(itertools.product((0.1, 0.2, 0.3), (8, 16)))


def point(job: Job) -> tuple[float, int]:
    return job.trial.settings["lr"], job.trial.settings["batch_size"]


def test_a_search_is_the_grid_with_the_first_seed_and_the_best_on_dev_gets_all_seeds(
    tmp_path: Path,
) -> None:
    """Oracle: the largest dev score by brute force over the `metrics.json` of the store."""
    planned = trials.prepare(searching(tmp_path, FIRST, SECOND, MAJORITY))
    cells = list(itertools.product(("first", "second"), ("ncbi-disease", "gad"), GRID))
    assert [(job.source.name, job.trial.task, point(job)) for job in planned.searched] == cells
    assert {job.trial.seed for job in planned.searched} == {1}
    marks = {cell: (7 * number % 13) / 20 for number, cell in enumerate(cells)}

    def score(job: Job) -> float:
        if job.source == MAJORITY:
            return 0.9
        return marks[job.source.name, job.trial.task, point(job)]

    engine = Played(score)
    seconds = {id(job): float(number) for number, job in enumerate(planned.final, 1)}
    timed = replace(
        planned, final=[replace(job, predicted=seconds[id(job)]) for job in planned.final]
    )
    outcomes = trials.run([timed], engine, lambda outcome: None, lambda job, news: None)
    best: dict[tuple[str, str], tuple[float, tuple[float, int]]] = {}
    for spec in (tmp_path / "runs").glob("*/*/*/spec.json"):
        content, metrics = read_json(spec), read_json(spec.with_name("metrics.json"))
        model = spec.parents[2].name
        if model in ("first", "second") and content["seed"] == 1:
            settings = content["settings"]["lr"], content["settings"]["batch_size"]
            best[model, content["task"]] = max(
                best.get((model, content["task"]), (0.0, (0.0, 0))),
                (metrics["dev"][metrics["metric"]], settings),
            )
    final = engine.given[1]
    assert what(final) == [
        *itertools.product(("first", "second"), ("ncbi-disease", "gad"), (1, 2)),
        *itertools.product(("baseline:majority",), ("ncbi-disease", "gad"), (1,)),
    ]
    assert {(job.source.name, job.trial.task): point(job) for job in final[:8]} == {
        cell: settings for cell, (_, settings) in best.items()
    }
    statuses = {(outcome.job.trial.seed, outcome.status) for outcome in outcomes[len(cells) :]}
    # The winner's first seed was searched
    assert statuses == {(1, "already done"), (2, "done"), (1, "done")}
    assert [job.predicted for job in final] == [float(number) for number in range(1, 11)]
    (first,) = (row for row in rows.read(Store(tmp_path / "runs")) if row.model == "first")
    assert first.trials["gad"] == {job.trial.seed: job.trial.hash for job in final[2:4]}


def test_what_is_overridden_is_not_searched(tmp_path: Path) -> None:
    planned = trials.prepare(searching(tmp_path, FIRST, tasks_="gad", overrides={"lr": 0.7}))
    assert [point(job) for job in planned.searched] == [(0.7, 8), (0.7, 16)]
    planned = trials.prepare(
        searching(tmp_path, FIRST, tasks_="gad", overrides={"lr": 0.7, "batch_size": 4})
    )
    assert (list(planned.searched), [point(job) for job in planned.final]) == ([], [(0.7, 4)] * 2)
    assert trials.prepare(searching(tmp_path, MAJORITY, tasks_="gad")).searched == []


def test_of_equal_points_the_first_wins_and_failed_ones_are_passed_over(tmp_path: Path) -> None:
    engine = Played(
        lambda job: (
            None if point(job) == (0.1, 8) else 0.5 if job.trial.settings["lr"] < 0.25 else 0.4
        )
    )
    run(searching(tmp_path, FIRST, tasks_="gad"), engine)
    assert {point(job) for job in engine.given[1]} == {(0.1, 16)}


@pytest.mark.parametrize("others", [[SECOND, MAJORITY], [MAJORITY]], ids=["a model", "a baseline"])
def test_a_model_whose_search_failed_stops_no_other(
    others: list[ModelSource], tmp_path: Path
) -> None:
    """Nor a baseline beside a search of which nothing is left."""
    engine = Played(lambda job: None if job.source == FIRST else 0.5)
    run(searching(tmp_path, FIRST, *others, tasks_="gad"), engine)
    assert what(engine.given[1]) == [
        (source.name, "gad", seed)
        for source in others
        for seed in ((1,) if source == MAJORITY else (1, 2))
    ]
    assert {row.model for row in rows.read(Store(tmp_path / "runs"))} == {
        source.name for source in others
    }


def test_trials_of_several_requests_go_to_the_engine_together(tmp_path: Path) -> None:
    engine = Played()
    plans = [
        trials.prepare(request(tmp_path, FIRST, tasks_=name, seeds=2))
        for name in ("gad", "biosses")
    ]
    outcomes = trials.run(plans, engine, lambda outcome: None, lambda job, news: None)
    expected = list(itertools.product(("first",), ("gad", "biosses"), (1, 2)))
    assert [what(jobs) for jobs in engine.given] == [expected]
    assert what([outcome.job for outcome in outcomes]) == expected
    (row,) = rows.read(Store(tmp_path))
    assert {task: set(seeds) for task, seeds in row.trials.items()} == {
        "gad": {1, 2},
        "biosses": {1, 2},
    }


@dataclass
class Ended(Played):
    """Is ended by Ctrl-C after some trials."""

    after: int = 0

    def work(self, sweep: Sweep, turns: JobQueue) -> None:
        for job in sweep.jobs[: self.after]:
            self._one(job)
        raise KeyboardInterrupt


@pytest.mark.parametrize(("after", "keep", "left"), [(0, False, 0), (0, True, 1), (1, False, 1)])
def test_a_sweep_without_a_finished_trial_is_withdrawn(
    tmp_path: Path, after: int, keep: bool, left: int
) -> None:
    planned = trials.prepare(replace(request(tmp_path, FIRST), keep_sweep=keep))
    with pytest.raises(KeyboardInterrupt):
        trials.run([planned], Ended(after=after), lambda outcome: None, lambda job, news: None)
    assert len(sweeps.folders(tmp_path)) == left


def test_a_sweep_that_another_worker_has_begun_is_not_withdrawn(tmp_path: Path) -> None:
    planned = trials.prepare(request(tmp_path, FIRST))
    job = planned.final[0]
    job.path.parent.mkdir(parents=True)
    with leases.held(Store(job.store).lease(job.path)), pytest.raises(KeyboardInterrupt):
        trials.run([planned], Ended(), lambda outcome: None, lambda job, news: None)
    assert len(sweeps.folders(tmp_path)) == 1
