"""The commands on tiny checkpoints and the demo suite: a series, a watch, a search, from files to pages."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import blurb
from blurb.checkpoints import hub
from blurb.extensions.series.curves import Scored, Step
from blurb.extensions.series.series import Series
from blurb.learners.building import resolve_model
from blurb.messages.errors import ModelError
from blurb.planning.options import RunOptions
from tests import checkpoints
from tests.cli.in_process import blurb as command, done, refused
from tests.extensions.series.test_series import made_row

pytestmark = pytest.mark.costly
TRIALS = ["--suite", "demo", "--protocol", "smoke", "--device", "cpu"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three checkpoints of other random weights and one tokenizer."""
    folder = tmp_path_factory.mktemp("runs") / "mine"
    for seed, step in enumerate((10, 20, 30)):
        own = checkpoints.build("bert_uncased", folder / f"checkpoint-{step}", seed=seed)
        state = {
            "max_steps": 30,
            "log_history": [{"step": at, "loss": 9.0 - at / 10} for at in range(10, step + 1, 10)],
        }
        (own / "trainer_state.json").write_text(json.dumps(state))
    return folder


def test_a_series_is_scored_once_and_read_again(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "mine")
    asked = ["series", "mine", "--tasks", "gad", *TRIALS]
    out = done([*asked, "--full", "demo", "--seeds", "1"], tmp_path)
    assert "mine: the trend of gad is highest at step" in out
    first = (tmp_path / "series" / "series.csv").read_text()
    assert first.count("mine,20,") == 3  # score, loss, training loss
    assert first.count(",demo,gad,score,") in (1, 2)  # the best and the last, which may be one
    (tmp_path / "mine" / "checkpoint-20" / "model.safetensors").write_bytes(b"cut")
    code, _, err = command([*asked, "--read"], tmp_path)
    assert code == 0
    assert "checkpoint-20: cannot load the weights" in err
    assert "mine,20," not in (tmp_path / "series" / "series.csv").read_text()
    lines = list(csv.DictReader((tmp_path / "series" / "series.csv").read_text().splitlines()))
    assert {(line["step"], line["measure"]) for line in lines if line["protocol"] == "smoke"} == {
        ("10", "score"), ("10", "loss"), ("30", "score"), ("30", "loss"),
    }  # fmt: skip
    assert "mine lacks step 40" in refused([*asked, "--require", "40"], tmp_path)
    code, out, _ = command(["runs"], tmp_path)
    assert "mine@10" in out


def test_a_watch_ends_with_the_last_planned_step(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "mine")
    asked = ["watch", "mine", "--tasks", "gad", *TRIALS, "--pause", "0.1", "--idle", "5m"]
    out = done(asked, tmp_path)
    assert [line.partition(":")[0] for line in out.splitlines()[:3]] == [
        "mine@10",
        "mine@20",
        "mine@30",
    ]
    assert (tmp_path / "series" / "README.md").is_file()


def _values(series: Series) -> list[tuple[int, float]]:
    return [
        (point.step.step, point.value) for curve in series.leading.curves for point in curve.points
    ]


def test_checkpoints_that_are_rotated_away_keep_their_scores(
    run: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `save_total_limit`; a relative name that is gone was looked up on the Hub."""
    shutil.copytree(run, here / "mine")
    monkeypatch.setattr(hub, "fetch", lambda *_: pytest.fail("asked the Hub"))
    series = []

    def seen(so_far: Series, *_: object) -> None:
        series.append(so_far)
        if len(series) == 2:
            shutil.rmtree("mine/checkpoint-10")

    options = {"suite": "demo", "protocol": "smoke", "device": "cpu", "output": "runs"}
    whole = blurb.watch("mine", "gad", pause=0.1, seen=seen, **options)
    assert [one.step.step for one in whole.scored if one.row] == [10, 20, 30]
    assert _values(series[-1]) == _values(whole)
    shutil.rmtree("mine/checkpoint-20")
    for again in (
        blurb.series("mine", "gad", **options),
        blurb.series("mine", "gad", run=False, **options),
    ):
        assert _values(again) == _values(whole)
        assert "mine@10, mine@20; their scores are those of the store" in " ".join(again.notes)
    shutil.copytree(run / "checkpoint-10", "other/checkpoint-5")
    assert [one.step.step for one in blurb.series("other", "gad", **options).scored] == [5]


def test_a_folder_that_goes_while_it_is_scored_is_not_looked_up_on_the_hub(
    run: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(run / "checkpoint-10", here / "org" / "model")
    monkeypatch.setattr(hub, "fetch", lambda *_: pytest.fail("asked the Hub"))
    (named,) = RunOptions(model="org/model").named_models
    shutil.rmtree("org")
    with pytest.raises(ModelError, match=f"model folder {here}/org/model does not exist"):
        resolve_model(str(named.model))


def test_a_watch_checks_each_checkpoint_and_its_looks_share_a_level(
    run: Path, tmp_path: Path
) -> None:
    shutil.copytree(run, tmp_path / "mine")
    base = ["run", "mine/checkpoint-10", "--name", "base", "--tasks", "gad", *TRIALS]
    assert command(base, tmp_path)[0] == 0
    gated = [
        "--check",
        "base",
        "--state",
        "looks.json",
        "--looks",
        "3",
        "--sd",
        "0.7",
        "--pause",
        "0.1",
    ]
    code, out, err = command(["watch", "mine", "--tasks", "gad", *TRIALS, *gated], tmp_path)
    verdicts = [line for line in out.splitlines() if ": pass" in line or ": regression" in line]
    assert [line.partition(":")[0] for line in verdicts] == ["mine@10", "mine@20", "mine@30"], err
    assert code == int(any(": regression" in line for line in verdicts))
    looks = json.loads((tmp_path / "looks.json").read_text())["looks"]
    assert [look["level"] for look in looks] == pytest.approx([0.05 / 3] * len(looks))
    assert len(looks) == 2  # the first has the weights of the baseline, and is no test
    code, _, err = command(["watch", "mine", "--tasks", "gad", *TRIALS, "--check", "bse"], tmp_path)
    assert (code, "did you mean" in err.lower() or "bse" in err) == (2, True)


@pytest.mark.parametrize(("more", "code"), [([], 1), (["--check", "base"], 2)])
def test_a_watch_of_checkpoints_that_failed_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], code: int
) -> None:
    """Nothing was judged, so the check cannot pass."""
    failed = Series(
        (Scored(Step("a", 1, "a"), None),),
        ("gad",),
        "sketch",
        notes=("out of memory",),
        failed=("x",),
    )

    def watch(runs: list[str], seen: Callable[..., None], **given: object) -> Series:
        seen(failed, None, None)
        return failed

    monkeypatch.setattr("blurb.extensions.series.cli.watch.watch", watch)
    monkeypatch.setattr(Series, "write", lambda series, out, picture: [])
    found = command(["watch", "a", "--tasks", "gad", *more], tmp_path)
    assert (found[0], "out of memory" in found[2]) == (code, True)


def test_a_watch_of_checkpoints_that_are_scored_already_draws_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first at once, as scoring may take hours, and the last of those that wait; the end writes once more."""
    steps = [
        Scored(Step("a", step, "a"), made_row(f"a@{step}", {"gad": [50.0]})) for step in range(1, 6)
    ]
    series, writes = Series(tuple(steps), ("gad",), "sketch"), []

    def watch(runs: list[str], seen: Callable[..., None], **given: object) -> Series:
        for each in steps:
            seen(series, each.row, None)
            writes.append(f"after {each.step.step}")
        return series

    monkeypatch.setattr("blurb.extensions.series.cli.watch.watch", watch)
    monkeypatch.setattr(
        Series, "write", lambda series, out, picture: writes.append("written") or []
    )
    assert command(["watch", "a", "--tasks", "gad"], tmp_path)[0] == 0
    assert writes == [
        "written",
        *(f"after {step}" for step in range(1, 5)),
        "written",
        "after 5",
        "written",
    ]


def test_options_of_a_check_need_a_check(run: Path, tmp_path: Path) -> None:
    err = refused(
        ["watch", str(run), "--tasks", "gad", "--rules", "nowhere.toml", "--looks", "3"], tmp_path
    )
    assert "--rules needs --check" in err
    assert "--looks needs --check" in err
    wrong = ["watch", str(run), "--tasks", "gad", "--check", "nowhere", "--rules", "nowhere.toml"]
    assert "nowhere.toml" in refused(wrong, tmp_path)  # before anything is scored


def test_a_search_that_finds_no_drop_says_so(run: Path, tmp_path: Path) -> None:
    code, out, err = command(
        ["bisect", str(run), "--task", "gad", "--drop", "99", *TRIALS, "--seeds", "2"], tmp_path
    )
    assert code == 1, err
    assert "no drop as large as was asked for (2 checkpoints scored)" in out
    assert "step 10: score" in out
    assert "There is no step 11" in refused(
        ["bisect", str(run), "--task", "gad", "--drop", "1", "--good", "11", *TRIALS], tmp_path
    )
