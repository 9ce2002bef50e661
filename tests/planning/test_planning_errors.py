"""A fault of several models and tasks is told once, with all that it holds of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blurb import tasks
from blurb.messages.errors import BlurbError, DataError, SettingsError
from blurb.planning.request import deduplicated
from tests.planning.test_trials import FIRST, SECOND

THIRD = replace(SECOND, name="third")


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ([(FIRST, "gad")], ["gad with first."]),
        ([(FIRST, "gad"), (FIRST, "hoc")], ["gad with first. The same holds of hoc."]),
        ([(FIRST, "gad"), (SECOND, "gad"), (THIRD, "gad")], ["gad with first. The same holds of second, third."]),
        (
            [(model, task) for model in (FIRST, SECOND, THIRD) for task in ("gad", "hoc")],
            ["gad with first. The same holds of hoc; second, third on gad, hoc."],
        ),
        (
            [(FIRST, "gad"), (SECOND, "hoc"), (THIRD, "gad")],
            ["gad with first. The same holds of second on hoc; third on gad."],
        ),
    ],
)
def test_what_it_holds_of(where: list[tuple[object, str]], told: list[str]) -> None:
    found = deduplicated(
        (SettingsError("{task} with {model}.", task=task, model=model.name), model, tasks.get(task))
        for model, task in where  # type: ignore[attr-defined, misc]
    )
    assert [str(error) for error in found] == told


def test_other_reasons_are_told_apart() -> None:
    errors = [
        SettingsError("{task} is small.", task="gad"),
        SettingsError("{task} is small.", fix="Use another.", task="hoc"),
        SettingsError("{task} is large.", task="hoc"),
        SettingsError("{task} is large.", where="a.toml", task="gad"),
    ]
    assert deduplicated((error, FIRST, tasks.get("gad")) for error in errors) == errors


def test_what_names_nothing_of_its_own_is_left_as_it_is() -> None:
    error: BlurbError = DataError("torn.")
    same = [(error, model, tasks.get("gad")) for model in (FIRST, SECOND)]
    assert deduplicated([*same, (DataError("torn."), THIRD, tasks.get("hoc"))]) == [error]
