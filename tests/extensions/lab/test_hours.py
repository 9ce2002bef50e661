"""What the parts of a study take, and what is begun within some hours."""

from pathlib import Path
from typing import Any, cast

import pytest

import blurb
from blurb.extensions.lab.pretraining import pretrain
from blurb.extensions.lab.pretraining.pretrain import ABOUT, machine, usual_precision
from blurb.extensions.lab.study import conduct, parts, spec
from blurb.extensions.lab.study.conduct import Forecast
from blurb.messages.errors import BlurbError
from blurb.system.files import write_json
from tests.cli.in_process import blurb as command, refused

SMALL = """
tasks = ["gad", "biosses"]
protocols = ["smoke"]
runs = 2
words = 2000
[recipe]
vocabulary = 300
length = 32
batch = 8
[variants.untrained]
words = 0
[variants.trained]
[variants.wide]
size = "mini"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path / "small.toml"


def trials(monkeypatch: pytest.MonkeyPatch, words_per_second: float) -> None:
    monkeypatch.setattr(pretrain, "words_per_second", lambda corpus, recipe: words_per_second)


class NoTexts:
    """In the place of texts, where a trial is not made."""

    def of(self, variant: spec.Variant) -> tuple[Any, Any]:
        return None, {}


NO_TEXTS = cast(conduct.Texts, NoTexts())


def forecast(study: spec.Study, out: Path, texts: conduct.Texts | None) -> Forecast:
    made = Forecast(study, out, texts, lambda encoder, protocol: 7.0)
    made._estimate = lambda variant: 7.0  # type: ignore[method-assign]
    return made


def test_seconds_of_parts_that_this_machine_has_made(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: the longest pretraining of the variant, and the longest scoring of an encoder of its size."""
    study = spec.read(file)
    untrained, trained, wide = study.variants
    monkeypatch.setattr(
        parts, "is_done", lambda out, study, variant, seed: parts.place(out, variant, seed).is_dir()
    )
    trials(monkeypatch, 10.0)
    elsewhere = {**machine(), "threads": 99}
    for variant, seed, kind, precision, pretraining, scoring in (
        (trained, 1, machine(), usual_precision(), 100.0, 20.0),
        (trained, 2, machine(), usual_precision(), 140.0, 15.0),
        (untrained, 1, elsewhere, usual_precision(), 5_000.0, 5_000.0),
        (untrained, 2, machine(), "fp8", 5_000.0, 5_000.0),
    ):
        facts = {
            "machine": kind,
            "precision": precision,
            "seen": {"seconds": pretraining},
            parts.SCORING: {"smoke": scoring},
        }
        parts.place(tmp_path, variant, seed).mkdir(parents=True)
        write_json(parts.place(tmp_path, variant, seed) / ABOUT, facts)
    known = forecast(study, tmp_path, NO_TEXTS)
    assert known.seconds(trained) == conduct.ENDS + 140.0 + 20.0
    assert known.seconds(untrained) == conduct.ENDS + 20.0  # no words: no trial
    assert known.seconds(wide) == pytest.approx(conduct.ENDS + 2_000 / (0.95 * 10.0) + 7.0)
    assert [(part.variant, part.seed) for part in known.parts()] == [("wide", 1), ("wide", 2)]
    without = forecast(study, tmp_path, None)
    assert (without.seconds(trained), without.seconds(wide)) == (conduct.ENDS + 160.0, None)


def test_a_part_for_which_there_is_no_time_ends_it(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All variants of the first seed come first; what would fit behind that which does not is not begun."""
    study, out = spec.read(file), tmp_path / "out"
    begun: list[str] = []
    monkeypatch.setattr(
        conduct, "_make", lambda study, variant, seed, *more: begun.append(f"{variant.name}-{seed}")
    )
    left = [100.0]
    takes = {"untrained": 1.0, "trained": 30.0, "wide": 40.0}

    def fits(variant: spec.Variant) -> bool:
        if takes[variant.name] > left[0]:
            return False
        left[0] -= takes[variant.name]
        return True

    made = conduct.conduct(study, out, NO_TEXTS, None, False, fits)  # type: ignore[arg-type]
    assert [f"{variant.name}-{seed}" for variant, seed in made] == begun
    # 28 are left, and trained-2 takes 30
    assert begun == ["untrained-1", "trained-1", "wide-1", "untrained-2"]
    assert not list((out / "work").iterdir())


def test_the_call_says_what_is_left(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Forecast, "_estimate", lambda self, variant: 60.0)
    trials(monkeypatch, 2_000 / (0.95 * 3600))  # an hour for each that learns
    told: list[str] = []
    assert not blurb.study(
        file, tmp_path / "out", suite="demo", hours=0.01, progress=False, told=told.append
    ).first
    total = round((6 * (conduct.ENDS + 60) + 4 * 3600) / 60)
    assert told == [
        f"6 pretrainings are left, which take about {total // 60} h {total % 60:02d} min: start the same command again."
    ]
    with pytest.raises(BlurbError, match=r"hours must be above 0 \(got 0\)"):
        blurb.study(file, tmp_path / "out", suite="demo", hours=0)


def test_the_command_lists_what_fits(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Forecast, "_estimate", lambda self, variant: 60.0)
    trials(monkeypatch, 2_000 / (0.95 * 3600))
    words = ["study", str(file), "--output", str(tmp_path / "out"), "--hours", "2.2", "--dry-run"]
    code, out, _ = command([*words, "--suite", "demo"], tmp_path)
    lines = out.splitlines()
    assert (code, lines[0], lines[1]) == (
        0, "untrained, pretraining 1: 0 words, 90 s", "trained, pretraining 1: 2,000 words, 62 min",
    )  # fmt: skip
    # 2 x (90 s + 3690 s)
    assert lines[-1].endswith("out: about 4 h 09 min; 4 fit into 2 h 12 min.")
    assert "add --data" in refused(words, tmp_path)
    code, out, error = command([*words[:-2], "0.01", "--suite", "demo"], tmp_path)
    assert (code, out) == (0, "")
    assert "6 pretrainings are left" in error


@pytest.mark.costly
def test_the_cost_model_knows_what_scoring_takes(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from blurb.extensions.lab.api.studying import missing_parts

    trials(monkeypatch, 1_000.0)
    file.write_text(SMALL.partition("[variants.wide]")[0])
    coming, _ = missing_parts(file, tmp_path / "out", suite="demo")
    assert len(coming) == 4
    assert all(part.seconds is not None and part.seconds > conduct.ENDS for part in coming)
