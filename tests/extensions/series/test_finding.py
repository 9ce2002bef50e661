"""Checkpoints of runs are found and ordered; what is none, or of another attempt, is told and left out."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from blurb.extensions.series import curves, finding
from blurb.extensions.series.conduct import watch
from blurb.extensions.series.curves import Step
from blurb.extensions.series.finding import FoundCheckpoints, find
from blurb.messages.errors import BlurbError, ModelError, SettingsError
from blurb.system.files import seal_folder
from tests.rewriting import edit


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests import checkpoints

    return checkpoints.build("bert_uncased", tmp_path_factory.mktemp("whole") / "model")


Add = Callable[..., Path]


@pytest.fixture
def add(tmp_path: Path, whole: Path) -> Add:
    def copy(
        name: str, losses: dict[int, float] | None = None, planned: int = 1_000, run: str = "run"
    ) -> Path:
        folder = tmp_path / run / name
        shutil.copytree(whole, folder)
        if losses is not None:
            log = [{"step": step, "loss": loss} for step, loss in losses.items()]
            state = {
                "max_steps": planned,
                "num_input_tokens_seen": 7,
                "log_history": [*log, {"step": 1, "eval": 2}],
            }
            (folder / "trainer_state.json").write_text(json.dumps(state))
        return folder

    return copy


def _steps(found: finding.FoundCheckpoints) -> list[int]:
    return [step.step for step in found.steps]


def test_checkpoints_are_in_the_order_of_their_steps(tmp_path: Path, add: Add) -> None:
    for step in (1_000, 200, 90):
        add(f"checkpoint-{step}", {50: 2.0})
    (tmp_path / "run" / "logs").mkdir()
    found = find([tmp_path / "run"])
    assert _steps(found) == [90, 200, 1_000]
    assert [step.name for step in found.steps] == ["run@90", "run@200", "run@1000"]
    assert not found.left_out
    assert found.steps[1].planned == 1_000
    assert found.steps[1].tokens == 7
    assert found.steps[1].figures == {"training loss": 2.0}


def test_words_follow_from_the_recipe_of_the_run(tmp_path: Path, add: Add) -> None:
    add("checkpoints/checkpoint-250", {50: 2.0})
    (tmp_path / "run" / "recipe.json").write_text(json.dumps({"recipe": {"words": 8_000}}))
    (tmp_path / "run" / "checkpoints" / "checkpoint-250" / "quality.json").write_text(
        '{"bits per byte": 1.5}'
    )
    (step,) = find([tmp_path / "run"]).steps
    assert (step.words, step.figures["bits per byte"]) == (2_000, 1.5)


def test_half_copied_checkpoints_are_left_out(tmp_path: Path, add: Add) -> None:
    add("checkpoint-1")
    cut = add("checkpoint-2") / "model.safetensors"
    cut.write_bytes(cut.read_bytes()[:-100])
    (add("checkpoint-3") / "config.json").unlink()
    sealed = add("checkpoint-4")
    seal_folder(sealed)
    (sealed / "extra.bin").write_bytes(b"1")  # no harm: it was never sealed
    broken = add("checkpoint-5")
    seal_folder(broken)
    (broken / "tokenizer.json").unlink()
    found = find([tmp_path / "run"])
    assert _steps(found) == [1, 4]
    text = "\n".join(found.left_out)
    assert "checkpoint-2: cannot load the weights" in text
    assert "checkpoint-3: no config.json" in text
    assert "checkpoint-5: tokenizer.json is not as it was sealed" in text


def test_no_step_and_two_of_one_step_are_told(tmp_path: Path, add: Add) -> None:
    for name in ("final", "checkpoint-5", "step-5", "step-6"):
        add(name)
    found = find([tmp_path / "run"])
    assert _steps(found) == [6]
    assert any("final: no step in its name" in note for note in found.left_out)
    assert any("checkpoint-5 and step-5 are both of step 5" in note for note in found.left_out)
    assert _steps(find([tmp_path / "run"], "step-*")) == [5, 6]


def test_an_attempt_that_was_given_up_is_left_out(tmp_path: Path, add: Add) -> None:
    shared = {100: 3.0}
    add("checkpoint-100", shared)
    old = [
        add("checkpoint-200", {**shared, 200: 2.5}),
        add("checkpoint-400", {**shared, 200: 2.5, 400: 9.9}),
    ]
    add("checkpoint-250", {**shared, 200: 2.4, 250: 2.2})
    for path in old:
        os.utime(path / "trainer_state.json", (1, 1))
    found = find([tmp_path / "run"])
    assert _steps(found) == [100, 250]
    assert all("is of another attempt than checkpoint-250" in note for note in found.left_out)
    assert len(found.left_out) == 2


def test_copies_with_times_in_any_order_are_one_attempt(tmp_path: Path, add: Add) -> None:
    losses = {100: 3.0, 200: 2.5, 300: 2.2}
    for last in losses:
        own = add(
            f"checkpoint-{last}", {step: loss for step, loss in losses.items() if step <= last}
        )
        os.utime(own / "trainer_state.json", (1_000 - last, 1_000 - last))
    assert _steps(find([tmp_path / "run"])) == [100, 200, 300]


def test_runs_of_one_name_are_told_apart(tmp_path: Path, add: Add) -> None:
    add("checkpoint-5", run="a/out")
    add("checkpoint-5", run="b/out")
    found = find([tmp_path / "a" / "out", tmp_path / "b" / "out"])
    assert [step.name for step in found.steps] == ["a-out@5", "b-out@5"]
    with pytest.raises(BlurbError, match="is named twice"):
        find([tmp_path / "a" / "out", tmp_path / "a" / "out"])


def test_required_steps_that_are_missing(tmp_path: Path, add: Add) -> None:
    add("checkpoint-5")
    with pytest.raises(BlurbError, match="are missing: run lacks step 10, 20"):
        finding.check_required(find([tmp_path / "run"]), [5, 10, 20])


def test_nothing_to_find(tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match="there is no such folder"):
        find([tmp_path / "gone"])
    (tmp_path / "run").mkdir()
    with pytest.raises(BlurbError, match=r"No checkpoint in .*run.*Name the folder"):
        find([tmp_path / "run"])


def test_revisions_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import HfApi

    names = [
        SimpleNamespace(name=name) for name in ("main", "step1000", "step200", "stepx", "step0200")
    ]
    monkeypatch.setattr(
        HfApi, "list_repo_refs", lambda self, repository: SimpleNamespace(branches=names, tags=[])
    )
    found = find(["org/model@step*"])
    assert [(step.name, step.reference) for step in found.steps] == [
        ("model@1000", "org/model@step1000")
    ]
    assert any("step200: another revision has step 200, too" in note for note in found.left_out)
    assert any("stepx: no step in its name" in note for note in found.left_out)


def test_a_look_at_runs_that_cannot_be_read_yet_says_why(tmp_path: Path, add: Add) -> None:
    (add("checkpoint-10") / "model.safetensors").unlink()
    there = finding.find_present([tmp_path / "run", tmp_path / "gone"])
    assert there.steps == ()
    assert [note.partition(": ")[2][:20] for note in there.left_out] == [
        "no weights; expected",
        "there is no such fol",
    ]


def test_a_hub_that_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from blurb.checkpoints import hub

    monkeypatch.setattr(hub, "revisions", Mock(side_effect=ModelError("The Hub does not answer.")))
    assert finding.find_present(["org/model@step*"]) == finding.FoundCheckpoints(
        (), ("The Hub does not answer.",)
    )
    with pytest.raises(ModelError):
        find(["org/model@step*"])


@pytest.mark.parametrize("pattern", ["/elsewhere/step-*", "step-**x"])
def test_a_pattern_that_is_none(tmp_path: Path, add: Add, pattern: str) -> None:
    add("step-10")
    with pytest.raises(SettingsError, match="is no pattern of names"):
        find([tmp_path / "run"], pattern)


def test_a_checkpoint_without_tokenizer_is_left_out_unless_another_is_named(
    tmp_path: Path, add: Add
) -> None:
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (
            add("checkpoint-10") if name == "vocab.txt" else tmp_path / "run" / "checkpoint-10"
        ).joinpath(name).unlink(True)
    add("checkpoint-20")
    without = find([tmp_path / "run"])
    assert _steps(without) == [20]
    assert "checkpoint-10: no tokenizer" in without.left_out[0]
    assert _steps(find([tmp_path / "run"], None, False)) == [10, 20]


def test_a_log_with_nan_is_read_all_the_same(tmp_path: Path, add: Add) -> None:
    """A Trainer writes NaN where a gradient overflowed; one of them must not hide plan, attempts and losses."""
    for step, losses in (
        (10, {10: 5.0}),
        (20, {10: 5.0, 20: 4.0}),
        (30, {10: 5.0, 20: 4.5, 30: 4.0}),
    ):
        edit(
            add(f"checkpoint-{step}", losses) / "trainer_state.json",
            lambda state: state["log_history"].append({"step": 1, "grad_norm": float("nan")}),
        )
    for at, step in enumerate((10, 20, 30)):
        os.utime(tmp_path / "run" / f"checkpoint-{step}" / "trainer_state.json", (at, at))
    found = find([tmp_path / "run"])
    assert [(step.step, step.planned, step.figures["training loss"]) for step in found.steps] == [
        (10, 1_000, 5.0), (30, 1_000, 4.0),
    ]  # fmt: skip
    assert "of another attempt" in found.left_out[0]


def test_a_loss_that_is_no_number_is_told(tmp_path: Path, add: Add) -> None:
    add("checkpoint-10", {5: 3.0, 10: float("nan")})
    found = find([tmp_path / "run"])
    assert [step.figures for step in found.steps] == [{}]
    assert found.left_out[0].endswith(
        "its training loss is no number from step 10 on; it is scored all the same."
    )


def test_entries_of_a_log_without_a_step_are_passed_over(tmp_path: Path, add: Add) -> None:
    odd = [{"step": None, "loss": 1.0}, {"step": "9", "loss": 1.0}, {"loss": 1.0}, 3]
    edit(
        add("checkpoint-10", {5: 3.0}) / "trainer_state.json",
        lambda state: state["log_history"].extend(odd),
    )
    assert [step.figures for step in find([tmp_path / "run"]).steps] == [{"training loss": 3.0}]


# What stands beside a checkpoint may be anything: it ends no watch of all runs.


HUGE = 10**400
CONTENTS = {
    "quality.json": {"x": HUGE, "y": 1.5, "z": -HUGE},
    "trainer_state.json": {
        "max_steps": HUGE,
        "num_input_tokens_seen": HUGE,
        "log_history": [{"step": 5, "loss": HUGE}, {"step": HUGE, "loss": 1.0}],
    },
    "../recipe.json": {"recipe": {"words": HUGE}},
}


@pytest.mark.parametrize("name", [*CONTENTS, "all"])
def test_a_whole_number_of_hundreds_of_digits_is_no_figure(name: str, tmp_path: Path) -> None:
    """No float has it, and asking whether it is finite raises an OverflowError."""
    folder = tmp_path / "run" / "checkpoint-10"
    folder.mkdir(parents=True)
    for each in CONTENTS if name == "all" else [name]:
        (folder / each).resolve().write_text(json.dumps(CONTENTS[each]))
    step = curves.read("run", 10, folder)
    assert (step.words, step.tokens, step.planned) == (None, None, None)
    assert step.figures == ({"y": 1.5} if name in ("quality.json", "all") else {})
    assert not curves.is_number(HUGE)
    assert curves.is_number(1e299)


# A watch scores what is whole and settled, once, and ends with the run; time is made up.


@dataclass
class Clock:
    """A clock that only sleep moves; something may happen at each pause."""

    happen: Callable[[int], None]
    time: float = 0.0
    pauses: int = field(default=0)

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.pauses += 1
        self.happen(self.pauses)

    def pace(self, idle: float = 100.0) -> dict:
        return {"pause": 10.0, "idle": idle, "sleep": self.sleep, "now": lambda: self.time}


def _write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model").write_text(text)


def test_checkpoints_are_scored_once_in_order_and_the_run_ends(tmp_path: Path) -> None:
    scored: list[str] = []

    def look() -> FoundCheckpoints:
        there = sorted(int(path.name) for path in tmp_path.iterdir())
        return FoundCheckpoints(
            tuple(Step("run", step, str(tmp_path / str(step)), planned=300) for step in there)
        )

    clock = Clock(
        lambda pause: _write(tmp_path / str(100 * pause), "whole") if pause <= 3 else None
    )
    found = watch(look, lambda step: scored.append(step.name), **clock.pace())
    assert scored == ["run@100", "run@200", "run@300"]
    assert [step.step for step in found.steps] == [100, 200, 300]
    assert clock.time < 100  # the last planned step ended it, not the idle time


def test_a_folder_that_still_changes_waits(tmp_path: Path) -> None:
    scored: list[int] = []
    folder = tmp_path / "5"

    def happen(pause: int) -> None:
        if pause <= 4:
            _write(folder, "x" * pause)

    clock = Clock(happen)

    def look() -> FoundCheckpoints:
        return FoundCheckpoints(
            (Step("run", 5, str(folder), planned=5),) if folder.is_dir() else ()
        )

    watch(look, lambda step: scored.append(clock.pauses), **clock.pace())
    # The fourth pause wrote last, so the fifth look found it as the fourth did
    assert scored == [5]


def test_a_run_without_a_plan_ends_when_nothing_comes(tmp_path: Path) -> None:
    _write(tmp_path / "1", "whole")
    clock = Clock(lambda pause: None)
    watch(
        lambda: FoundCheckpoints((Step("run", 1, str(tmp_path / "1")),)),
        lambda step: None,
        **clock.pace(idle=55),
    )
    assert 55 < clock.time <= 80


def test_what_stays_left_out_is_told_once(tmp_path: Path) -> None:
    """A checkpoint that is still copied is left out at one look; a damaged one at all of them."""
    told: list[str] = []
    clock = Clock(lambda pause: None)

    def look() -> FoundCheckpoints:
        return FoundCheckpoints((), ("damaged", *(["copied"] if clock.pauses == 2 else [])))

    watch(look, lambda step: None, **clock.pace(idle=55), tell=told.append)
    assert told == ["damaged"]
