"""What the author of a head imports is what the documents and the errors name, and costs nothing until it is used."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest

import blurb.heads
from blurb.messages.errors import SettingsError


def test_the_contracts_can_be_imported_from_the_room() -> None:
    from blurb.heads import Head, Pooling, Problem, heads, poolings

    assert issubclass(heads.get("linear"), Head)
    assert issubclass(poolings.get("mean"), Pooling)
    assert dataclasses.is_dataclass(Problem)
    assert all(hasattr(blurb.heads, name) for name in blurb.heads.__all__)
    assert not hasattr(blurb.heads, "Hed")


def test_heads_for_tags_alone_are_those_whose_classes_say_so() -> None:
    declared = {name: blurb.heads.heads.get(name).kinds for name in blurb.heads.heads.built_in}
    assert {name for name, kinds in declared.items() if kinds == ("tokens",)} == set(
        blurb.heads.OF_TAGS
    )


def test_the_room_itself_stays_light() -> None:
    code = "import blurb.heads, json, sys; print(json.dumps(sorted(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert not {"torch", "transformers", "blurb.heads._base"} & set(json.loads(loaded))


def test_an_error_names_a_class_that_can_be_imported() -> None:
    with pytest.raises(
        SettingsError, match=r"fractions:Fraction is .* not a class below blurb.heads.Head"
    ) as caught:
        blurb.heads.heads.load("fractions:Fraction")
    room, _, name = str(caught.value).rstrip(".").split()[-1].rpartition(".")
    namespace: dict[str, object] = {}
    exec(f"from {room} import {name}", namespace)
    assert name in namespace
