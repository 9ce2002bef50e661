"""What began with a version of pretraining keeps it. The oracle is the committed study, which was made by version 1."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from blurb.extensions.lab.pretraining.pretrain import PLAN, pretrain
from blurb.extensions.lab.pretraining.recipe import VERSION
from blurb.extensions.lab.pretraining.request import PretrainingCorpus
from blurb.extensions.lab.study import parts, spec
from blurb.messages.errors import BlurbError, DataError
from tests.conftest import ROOT
from tests.extensions.lab.conftest import SMALL

COMMITTED = ROOT / "docs" / "results" / "lab" / "vocabulary-and-masking"


def test_a_study_keeps_the_version_of_its_parts(tmp_path: Path) -> None:
    study = spec.read("vocabulary-and-masking")
    assert {variant.recipe.version for variant in parts.start_study(study, tmp_path).variants} == {
        VERSION
    }
    begun = parts.start_study(study, COMMITTED)
    assert {variant.recipe.version for variant in begun.variants} == {1}
    assert all(parts.is_done(COMMITTED, begun, variant, 1) for variant in begun.variants)
    with pytest.raises(DataError, match="made with another version"):
        parts.check(COMMITTED, study.variants[0], 1)


def test_parts_of_two_versions_are_not_mixed(tmp_path: Path) -> None:
    study = spec.read("vocabulary-and-masking")
    for name in ("own-whole-word-1", "own-whole-word-2"):
        (tmp_path / "parts" / name).mkdir(parents=True)
        shutil.copy(COMMITTED / "parts" / name / "pretraining.json", tmp_path / "parts" / name)
    path = tmp_path / "parts" / "own-whole-word-2" / "pretraining.json"
    about = json.loads(path.read_text())
    path.write_text(json.dumps({**about, "recipe": {**about["recipe"], "version": 2}}))
    with pytest.raises(DataError, match="versions 1 and 2 of pretraining"):
        parts.start_study(study, tmp_path)


def test_a_part_that_a_kill_left_decides_as_well(tmp_path: Path) -> None:
    work = tmp_path / "work" / "own-whole-word-1" / "pretrained"
    work.mkdir(parents=True)
    (work / PLAN).write_text(json.dumps({"hash": "x", "recipe": {"words": 77}}))
    begun = parts.start_study(spec.read("vocabulary-and-masking"), tmp_path)
    assert {variant.recipe.version for variant in begun.variants} == {1}


@pytest.mark.costly
def test_a_run_keeps_the_version_that_it_began_with(
    tmp_path: Path, corpus: PretrainingCorpus
) -> None:
    asked = replace(SMALL, words=600, whole_word=True)
    first = replace(asked, version=1)
    old = {name: value for name, value in asdict(first).items() if name != "version"}
    (tmp_path / "old").mkdir()
    plan = {"hash": first.hash(corpus.hash), "recipe": old, "precision": "fp32"}
    (tmp_path / "old" / PLAN).write_text(json.dumps(plan))
    folders = [
        pretrain(tmp_path / name, corpus, asked, {"source": "x"}, progress=False)
        for name in ("old", "new")
    ]
    made = [json.loads((folder / "pretraining.json").read_text()) for folder in folders]
    assert [each["recipe"]["version"] for each in made] == [1, VERSION]
    assert made[0]["hash"] == plan["hash"] != made[1]["hash"]
    with pytest.raises(BlurbError, match="of another recipe"):
        pretrain(tmp_path / "old", corpus, replace(asked, seed=5), {"source": "x"}, progress=False)
