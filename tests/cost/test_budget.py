"""What a budget buys, as a table of cases with times that are made up."""

from pathlib import Path

import pytest

from blurb.cost.budget import LADDER, UNITS, budget_seconds, choose
from blurb.messages.errors import SettingsError
from blurb.messages.text import format_duration, format_size
from blurb.protocols import protocol
from tests.cli.in_process import run
from tests.cost.settings import estimate

FAST = {"gad": 60, "biosses": 5, "hoc": 120}
LADDERS = [
    estimate(FAST),
    estimate({name: 4.0 * each for name, each in FAST.items()}),
    estimate({name: [12.0 * each] * 3 for name, each in FAST.items()}),
]


@pytest.mark.parametrize(
    ("seconds", "rung", "names"),
    [
        (100_000, 2, ["gad", "biosses", "hoc"]),
        (185 * 36, 2, ["gad", "biosses", "hoc"]),
        (185 * 36 - 1, 1, ["gad", "biosses", "hoc"]),
        (185 * 4, 1, ["gad", "biosses", "hoc"]),
        (185 * 4 - 1, 0, ["gad", "biosses", "hoc"]),
        (185, 0, ["gad", "biosses", "hoc"]),
        (184, 0, ["biosses", "gad"]),
        (65, 0, ["biosses", "gad"]),
        (64, 0, ["biosses"]),
        (5, 0, ["biosses"]),
    ],
)
def test_the_dearest_that_fits_else_the_cheapest_sets(
    seconds: float, rung: int, names: list[str]
) -> None:
    assert choose(LADDERS, seconds) == (rung, names)


def test_nothing_fits() -> None:
    with pytest.raises(
        SettingsError, match=r"nothing fits into 4 s\. The cheapest, \w+ on biosses, .* take 5 s"
    ):
        choose(LADDERS, 4)


def test_several_trials_at_a_time_fit_sooner() -> None:
    found = [estimate(FAST, jobs=2)]
    assert [len(choose(found, seconds)[1]) for seconds in (120, 119)] == [3, 2]


def test_what_is_done_costs_nothing() -> None:
    import dataclasses

    dear = LADDERS[2]
    done = dataclasses.replace(
        dear, trials=[dataclasses.replace(one, done=True) for one in dear.trials]
    )
    assert choose([*LADDERS[:2], done], 1)[0] == 2


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("2h", 7_200), ("1h30m", 5_400), ("0.5h", 1_800), (" 10M ", 600)],
)
def test_a_budget_is_a_time(text: str, seconds: float) -> None:
    assert budget_seconds(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "10", "ten minutes", "10m!", "-5m", "m", "5d", "1e9h", "10 m", "nan", "٣m"]
)
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"must be a time such as 90s, 10m, 2h"):
        budget_seconds(text)


@pytest.mark.extensions
@pytest.mark.parametrize("name", ["idle", "pause"])
@pytest.mark.parametrize("text", ["foo", "5 %", "0s", "nan"])
def test_the_option_of_a_time_is_named(name: str, text: str, tmp_path: Path) -> None:
    """`--idle foo` was answered with `--budget must be ...`."""
    from blurb.extensions.series.api.following import watch

    with pytest.raises(SettingsError, match=rf"^--{name} must be .*\(got '{text}'\)"):
        watch(tmp_path, "gad", **{name: text})  # type: ignore[arg-type]
    typed = run("watch", str(tmp_path), "--tasks", "gad", f"--{name}", text)
    assert f"--{name} must be" in str(typed.exception)


@pytest.mark.extensions
@pytest.mark.parametrize(
    ("pause", "seconds"), [("1s", 1), ("2m", 120), (0.5, 0.5), ("3", 3), (4, 4)]
)
def test_times_have_one_form(
    pause: float | str, seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from blurb.extensions.series import conduct
    from blurb.extensions.series.api.following import watch
    from blurb.extensions.series.finding import FoundCheckpoints

    times: list[tuple[float, float]] = []

    def watched(look: object, score: object, pause: float, idle: float, tell: object) -> object:
        times.append((pause, idle))
        return FoundCheckpoints(())

    monkeypatch.setattr(conduct, "watch", watched)
    watch(tmp_path, "gad", pause=pause, idle="1h30m")
    assert times == [(seconds, 5_400)]


def test_every_rung_is_a_protocol_and_they_go_up() -> None:
    assert {rung.protocol for rung in LADDER} <= set(protocol.protocol_names())
    assert len(set(LADDER)) == len(LADDER)
    assert [rung.name for rung in LADDER][-3:] == ["quick", "quick with 3 seeds", "standard"]


def test_there_are_no_times_and_sizes_without_a_unit() -> None:
    assert [format_duration(seconds) for seconds in (0, 1.4, 99, 100, 5_400, 86_400)] == [
        "1 s",
        "1 s",
        "99 s",
        "2 min",
        "1 h 30 min",
        "24 h",
    ]
    assert [format_size(count) for count in (0, 999_999, 25e6, 1e9)] == [
        "0.0 MB",
        "1.0 MB",
        "25 MB",
        "1.0 GB",
    ]
    assert UNITS == {"s": 1, "m": 60, "h": 3600}
