"""Studies: their files, the command, the call."""

from __future__ import annotations

from pathlib import Path

import pytest

import blurb
from blurb.extensions.lab.study import spec
from blurb.messages.errors import BlurbError
from tests.cli.in_process import blurb as command


@pytest.mark.parametrize("name", spec.ready())
def test_the_shipped_studies_can_be_made(name: str) -> None:
    study = spec.read(name)
    assert study.runs >= 3
    assert len(study.variants) >= 4
    assert len({task.type for task in study.tasks}) >= 4
    assert [variant.recipe.words for variant in study.variants if variant.name == "untrained"] == [
        0
    ]
    assert all(
        variant.recipe.words >= 60_000_000
        for variant in study.variants
        if variant.name != "untrained"
    )


TWO = "[variants.a]\n[variants.b]\nwhole_word = true\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[variants.a]\n", "at least two"),
        (f"mask = 1\n{TWO}", "There is no key called 'mask'"),
        (
            f"{TWO}maskrate = 0.3\n",
            "variants.b: There is no key called 'maskrate'. Did you mean 'mask_rate'?",
        ),
        (f"{TWO}mask_rate = 1.0\n", "variants.b: mask_rate must be above 0 and below 1"),
        (f"{TWO}batch = true\n", "variants.b: batch must be a whole number"),
        (f"{TWO}vocabulary = '8k'\n", "variants.b: vocabulary must be a whole number"),
        (f"reference = 'c'\n{TWO}", "c"),
        (f"runs = 0\n{TWO}", "runs must be at least 1 and at most 100"),
        (f"words = 'many'\n{TWO}", "is no number of words"),
        (f"protocols = ['fast']\n{TWO}", "fast"),
        (f"tasks = ['gadd']\n{TWO}", "gadd"),
        (f"protocols = []\n{TWO}", "protocols must name at least one"),
        (f"protocols = ['standard']\n{TWO}", "standard has 10 seeds"),
        (f"text = 5\n{TWO}", "text must be a text or a list of texts"),
        (f"floors = 'bigrams'\n{TWO}", "floors are baselines, such as baseline:NAME"),
        ("variants = 5\n", "variants must be a table"),
    ],
)
def test_a_study_that_cannot_be_made(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(content)
    with pytest.raises(BlurbError) as caught:
        spec.read(file)
    assert told in str(caught.value)


def test_a_study_that_is_not_there(tmp_path: Path) -> None:
    for name, told in (("vocabularies", "vocabulary"), (str(tmp_path / "x.toml"), "no such file")):
        with pytest.raises(BlurbError, match=told):
            spec.read(name)


def test_the_command(tmp_path: Path) -> None:
    code, out, _ = command(
        ["study", "masking", "--dry-run", "--output", str(tmp_path / "out")], tmp_path
    )
    assert (code, out.splitlines()[-1][:42]) == (
        0,
        "15 of 15 pretrainings are missing in " + str(tmp_path)[:5],
    )
    assert "whole-word, pretraining 3: 60,000,000 words" in out
    for words, told in (
        (["study", "maskings"], "masking"),
        (["study", "masking", "--output", str(tmp_path / "out")], "add --data"),
        (["study", "masking", "--read", "--output", str(tmp_path / "out")], "no finished part"),
    ):
        code, _, err = command(words, tmp_path)
        assert code == 2
        assert told in err
    assert not (tmp_path / "out").exists()


def test_the_front_door(here: Path) -> None:
    for call, told in (
        (lambda: blurb.pretrain("encoder", "missing.txt"), "missing.txt"),
        (lambda: blurb.pretrain("encoder", "train"), "train"),
        (lambda: blurb.pretrain("encoder", "train", masking=0.3), "masking"),
    ):
        with pytest.raises(BlurbError, match=told):
            call()
    assert "masking" not in repr(blurb.study("masking", run=False).rows)
    assert list(here.iterdir()) == []
