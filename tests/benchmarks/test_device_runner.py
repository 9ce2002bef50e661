"""Parts on a machine: what is skipped, left out, fails, is killed, and goes on; the cells are made up."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from benchmarks.device import cards, code, measure_tests, parts, runner
from benchmarks.device.cells import Cell, Context, Figures, Part, Unfinished
from benchmarks.device.results import FILE, read
from blurb.messages.errors import BlurbError, UnknownName

H100 = {
    "card": "NVIDIA H100",
    "cards": 1,
    "memory": 79.6,
    "cuda": "13.0",
    "torch": "2.13.0",
    "transformers": "5.23.0",
}
NONE = {**H100, "card": "CPU", "cards": 0, "cuda": None}


class Played:
    """Parts whose cells are functions, run in this process instead of in one of their own."""

    def __init__(self, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bundle, self.back, self.patch = bundle, bundle / "back", monkeypatch
        manifest = {
            "commit": "c" * 40,
            "versions": {"torch": "2.13.0"},
            "digest": code.digest(bundle / "code"),
        }
        (bundle / "manifest.json").write_text(json.dumps(manifest))
        self.on(H100)
        monkeypatch.setattr(parts, "PARTS", {})
        monkeypatch.setattr(
            runner, "_process", lambda part, *rest: runner.run_part(part.name, *rest) or ""
        )

    def on(self, facts: Mapping[str, Any]) -> None:
        self.patch.setattr(cards, "describe", lambda: dict(facts))

    def part(self, name: str, *cells: Cell, minutes: float = 1.0) -> None:
        def each(context: Context) -> Iterator[Cell]:
            yield from cells

        parts.PARTS[name] = Part(name, minutes, name, each, (), lambda found: [])

    def run(self, small: bool = False) -> list[str]:
        return runner.run(list(parts.PARTS), self.bundle, self.back, small, False)

    def found(self, name: str) -> dict[str, Any]:
        return read(self.back / FILE)["parts"][name]


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(tmp_path, monkeypatch)


def gives(**figures: Any) -> Callable[[], Figures]:
    return lambda: figures


def fails(error: Exception) -> Callable[[], Figures]:

    return Mock(side_effect=error)


def test_figures_are_written_with_card_and_commit(played: Played) -> None:
    played.part("speed", Cell("one", gives(seconds=1.5)), Cell("two", gives(seconds=2)))
    (line,) = played.run()
    assert line.startswith("speed: complete, 2 figures, ")
    content = read(played.back / FILE)
    assert (content["card"]["card"], content["manifest"]["commit"]) == ("NVIDIA H100", "c" * 40)
    assert content["parts"]["speed"]["cells"] == {"one": {"seconds": 1.5}, "two": {"seconds": 2}}
    assert content == read(played.bundle / "scratch" / FILE)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (NONE, "no GPU: torch 2.13.0 was built without CUDA"),
        (
            {**NONE, "cuda": "13.0"},
            "no GPU: torch 2.13.0 was built for CUDA 13.0 and finds no card that its driver",
        ),
    ],
)
def test_without_a_gpu_every_part_is_skipped_and_says_why(
    played: Played, facts: dict[str, Any], said: str
) -> None:
    played.on(facts)
    played.part("one", Cell("x", fails(AssertionError("must not be measured"))))
    played.part("two", Cell("x", fails(AssertionError("must not be measured"))))
    lines = played.run()
    assert [line.partition(",")[0] for line in lines] == ["one: skipped", "two: skipped"]
    assert all(said in line for line in lines)
    assert played.found("one")["state"] == "skipped"
    assert said in played.found("two")["why"]


def test_a_rehearsal_needs_none(played: Played) -> None:
    played.on(NONE)
    played.part("one", Cell("x", gives()))
    assert played.run(small=True)[0].startswith("one: complete")


def test_other_versions_are_told_and_measured(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    played.on({**H100, "torch": "2.11.0+cu130"})
    played.part("one", Cell("x", gives()))
    assert played.run()[0].startswith("one: complete")
    sentence = "torch is 2.11.0+cu130 here; the tests pass with 2.13.0"
    assert f"Note: {sentence}" in capsys.readouterr().out
    assert read(played.back / FILE)["differences"] == [sentence]
    assert cards.differences({"versions": {"torch": "2.13.0"}}, {"torch": "2.13.0+cu130"}) == []
    assert cards.differences({"versions": {"numpy": "2"}}, {}) == [
        "numpy is missing here; the tests pass with 2"
    ]


def test_code_that_someone_changed_is_told_and_marked(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    """What Python compiles is no change."""
    played.part("one", Cell("x", gives()))
    for name, changed in (("blurb/__pycache__/x.pyc", False), ("blurb/x.py", True)):
        path = played.bundle / "code" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
        assert played.run()[0].startswith("one: complete")
        assert read(played.back / FILE)["manifest"]["changed"] is changed
        assert ("Note: the code is not what was packed" in capsys.readouterr().out) is changed


def test_too_little_memory_leaves_a_figure_out(played: Played) -> None:
    played.on({**H100, "memory": 16.0})
    played.part(
        "one",
        Cell("large", fails(AssertionError("tried")), memory=24.0),
        Cell("small", gives(s=1), memory=16.0),
    )
    (line,) = played.run()
    assert "large: not tried: it needs 24 GiB of memory, and there are 16" in line
    assert played.found("one")["cells"] == {"small": {"s": 1}}


def test_a_figure_that_fails_is_told_without_folders_and_the_rest_goes_on(played: Played) -> None:
    error = FileNotFoundError(2, "No such file", f"{played.bundle}/scratch/x.json")
    played.part("one", Cell("bad", fails(error)), Cell("good", gives(s=1)))
    played.run()
    assert played.found("one")["told"] == {
        "bad": "failed: FileNotFoundError: [Errno 2] No such file: 'x.json'"
    }
    assert played.found("one")["cells"] == {"good": {"s": 1}}
    assert str(played.bundle) not in (played.back / FILE).read_text(encoding="utf-8")


def test_a_command_that_was_cut_is_told_without_its_words(played: Played) -> None:
    played.part(
        "one", Cell("x", fails(subprocess.TimeoutExpired(["python", "--data", "/home/x"], 10)))
    )
    played.run()
    assert played.found("one")["told"] == {"x": "failed: the time was up"}


def test_after_an_error_of_cuda_the_part_ends_and_the_next_one_runs(played: Played) -> None:
    """The same command first measures what came after that error."""
    played.part(
        "one",
        Cell("bad", fails(RuntimeError("CUDA error: an illegal address"))),
        Cell("x", gives()),
    )
    played.part("two", Cell("x", gives()))
    first, second = played.run()
    assert first.startswith(
        "one: cut off (the card cannot be used any more in this process; the same command goes on)"
    )
    assert second.startswith("two: complete")
    assert played.run()[0].startswith("one: cut off")
    assert list(played.found("one")["cells"]) == ["x"]


def test_the_same_command_goes_on(played: Played) -> None:
    """With what was unfinished and what failed; what has figures is not measured again."""
    calls: list[str] = []

    def counted(name: str, *answers: Any) -> Cell:
        left = list(answers)

        def measure() -> Figures:
            calls.append(name)
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return {"s": answer}

        return Cell(name, measure)

    played.part(
        "one",
        counted("a", 1),
        counted("b", OSError("once"), 2),
        counted("c", Unfinished({"s": 3}), 4),
    )
    (line,) = played.run()
    assert line.startswith("one: cut off (the time was up; the same command goes on), 2 figures")
    assert played.found("one")["cells"]["c"] == {"s": 3, "unfinished": True}
    (line,) = played.run()
    assert line.startswith("one: complete, 3 figures")
    assert calls == ["a", "b", "c", "c", "b"]
    assert played.found("one")["told"] == {}
    assert played.run() == ["one: complete already"]


def test_after_its_minutes_nothing_new_begins(played: Played) -> None:
    played.part("one", Cell("a", lambda: time.sleep(0.1) or {}), Cell("b", gives()), minutes=0.001)
    assert played.run()[0].startswith("one: cut off (the time was up; ")
    assert list(played.found("one")["cells"]) == ["a"]


def test_what_failed_is_tried_again_by_the_same_command(played: Played) -> None:
    """Also an error that nobody foresaw; a part with failures is not complete, and the command says so."""
    left = [TypeError("unexpected keyword argument"), None]

    def measure() -> Figures:
        if error := left.pop(0):
            raise error
        return {"s": 2}

    played.part(
        "one", Cell("bad", measure), Cell("good", gives(s=1)), Cell("large", gives(), memory=1e9)
    )
    (line,) = played.run()
    assert line.startswith("one: incomplete, 1 figures, ")
    assert "bad: failed: TypeError: unexpected keyword argument" in line
    assert not runner.are_complete(["one"], played.back)
    (line,) = played.run()
    assert line.startswith("one: complete, 2 figures, ")
    assert runner.are_complete(["one"], played.back)


def test_another_folder_gets_what_is_complete_already(played: Played, tmp_path: Path) -> None:
    played.part("one", Cell("x", gives(s=1)))
    played.run()
    played.back = tmp_path / "other"
    assert played.run() == ["one: complete already"]
    assert played.found("one")["cells"] == {"x": {"s": 1}}


@pytest.mark.parametrize("changed", ["card", "commit"])
def test_figures_of_another_card_or_commit_are_not_gone_on_from(
    played: Played, changed: str
) -> None:
    played.part("one", Cell("a", gives(s=1)))
    played.run()
    trial = played.bundle / "scratch" / "rows" / "DONE.json"
    trial.parent.mkdir()
    trial.touch()
    if changed == "card":
        played.on({**H100, "card": "NVIDIA H200"})
    else:
        (played.bundle / "manifest.json").write_text(json.dumps({"commit": "d" * 40}))
    assert played.run()[0].startswith("one: complete, 1 figures")
    assert not trial.exists()


def test_a_folder_that_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(
        BlurbError, match=r"no bundle of benchmarks\.device; unpack one and use its run\.sh"
    ):
        runner.run([], tmp_path, tmp_path, False, False)


def test_every_test_for_gpus_is_among_those_that_run() -> None:
    root = Path(__file__).parents[2]
    assert {
        path
        for path in (root / "tests").rglob("test_*.py")
        if "pytest.mark.gpu" in path.read_text("utf-8")
    } - {Path(__file__)} == {root / file for file in measure_tests.FILES}


def test_a_part_that_is_mistyped() -> None:
    with pytest.raises(UnknownName, match=r"no part called 'quik'\. Did you mean 'quick'"):
        parts.get("quik")


def test_parts_fit_into_a_command_of_ten_minutes() -> None:
    assert all(60 * part.minutes + runner.GRACE < 600 for part in parts.PARTS.values())
    page = (Path(__file__).parents[2] / "docs" / "device.md").read_text(encoding="utf-8")
    lines = [f"| `{part.name}` | {part.minutes:g} |" for part in parts.PARTS.values()]
    assert sorted(lines, key=page.index) == lines  # all of them, in their order


@pytest.mark.costly
@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "raise SystemExit('no such library: /home/x/y.so')",
            "its process ended with 1: no such library: y.so",
        ),
        ("import time; time.sleep(60)", "its 0.01 minutes were over"),
    ],
)
def test_a_process_that_breaks_or_hangs_is_ended_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    monkeypatch.setattr(runner, "GRACE", 0.5)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    part = Part("one", 0.01 if "sleep" in code else 1, "", lambda context: [], (), lambda found: [])
    begun = time.monotonic()
    assert runner._process(part, tmp_path, tmp_path, True, False) == said
    assert time.monotonic() - begun < 30


@pytest.mark.costly
def test_a_part_ends_with_the_process_that_started_it() -> None:
    """Which may be killed, so that it cannot end the part itself; the next call would measure beside it."""
    part = "from benchmarks.device import runner; import time; runner.end_with_parent(); print('on'); time.sleep(60)"
    started = f"import subprocess, sys; subprocess.Popen([sys.executable, '-uc', {part!r}], start_new_session=True)"
    whole = f"{started}; import time; time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", whole], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "on\n"
    process.kill()
    begun = time.monotonic()
    assert process.stdout.read() == ""  # until nobody has it open
    process.wait()
    assert time.monotonic() - begun < 30
