"""Whole pretrainings: killed and resumed, continued, with a fault built in, with bad input."""

import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import TrainerCallback

import blurb
from blurb.corpora import demo
from blurb.extensions.lab.pretraining import pretrain as pretraining
from blurb.extensions.lab.pretraining.pretrain import pretrain
from blurb.extensions.lab.pretraining.request import PretrainingCorpus
from blurb.messages import SettingsError
from tests.cli.in_process import blurb as command, done, refused
from tests.extensions.lab.conftest import SMALL

ASKED = shlex.split("pretrain out --text train --vocabulary 500 --length 32 --batch 8 --threads 1")


SPENT = ("checkpoints/checkpoint-20/seconds.json", "model/pretraining.json")


@pytest.mark.costly
def test_a_pretraining_that_was_killed_comes_to_the_same_weights(tmp_path: Path) -> None:
    data = ["--data", str(demo.prepare()), "--words", "9k"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    first = command([*ASKED, *data], whole)
    assert first[0] == 0, first[2]
    kill = (
        "import os, signal\nfrom blurb.extensions.lab.pretraining import trainer\n"
        "saved = trainer._Saving.on_save\n"
        "def on_save(self, args, state, control, **more):\n"
        "    saved(self, args, state, control, **more)\n"
        "    if state.global_step == 20: os.kill(os.getpid(), signal.SIGKILL)\n"
        "trainer._Saving.on_save = on_save\n"
        f"from blurb.cli import cli\ncli({[*ASKED, *data]!r})\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", kill], cwd=killed, capture_output=True, text=True, check=False
    )
    assert ended.returncode == -9, ended.stderr
    assert not (killed / "out" / "model").exists()
    # As a kill while it was written leaves it
    (killed / "out" / "checkpoints" / "checkpoint-21").mkdir()
    assert command([*ASKED, *data], killed)[0] == 0
    files = [folder / "out" / "model" / "model.safetensors" for folder in (whole, killed)]
    assert files[0].read_bytes() == files[1].read_bytes()
    about = json.loads((whole / "out" / "model" / "pretraining.json").read_text())
    assert about["bits per byte"]["model"] > 0
    assert about["seen"]["flops"] > about["seen"]["tokens"] * about["parameters"]
    spent = [json.loads((killed / "out" / path).read_text()) for path in SPENT]
    assert 0 < spent[0]["seconds"] <= spent[1]["seen"]["seconds"]  # of both stretches
    last = about["seen"]["updates"]
    assert json.loads(
        (whole / "out" / "checkpoints" / f"checkpoint-{last}" / "quality.json").read_text()
    )["bits per byte"] == pytest.approx(about["bits per byte"]["model"], abs=1e-5)
    assert (
        "Compared with dev and test of bc5-chem"
        in (whole / "out" / "model" / "README.md").read_text()
    )
    again = command([*ASKED, *data, "--seed", "2"], whole)
    assert (again[0], "is of another recipe or text" in again[2]) == (2, True)
    run = shlex.split(
        f"run out/model --data {demo.prepare()} --suite demo --tasks gad --protocol smoke"
    )
    done([each for each in run if each not in ("--data", str(demo.prepare()))], whole)


@pytest.mark.costly
def test_hours_become_words_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, corpus: PretrainingCorpus
) -> None:
    monkeypatch.setattr(pretraining, "WARM_UP", 0.1)
    monkeypatch.setattr(pretraining, "SECONDS", 0.5)
    first = pretraining.for_hours(tmp_path, corpus, SMALL, 0.01)
    again = pretraining.for_hours(tmp_path, corpus, SMALL, 0.02)
    # Twice the time, on a machine that does other things, too
    assert 1.0 < again.words / first.words < 4.0
    (tmp_path / "recipe.json").write_text(json.dumps({"hash": "x", "recipe": {"words": 77}}))
    assert pretraining.for_hours(tmp_path, corpus, SMALL, 5).words == 77


@pytest.mark.costly
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_products_are_in_the_precision_that_is_reported(
    tmp_path: Path, corpus: PretrainingCorpus, precision: str
) -> None:
    """That of the first start, whatever machine goes on: recipe.json says it."""
    (tmp_path / "recipe.json").write_text(
        json.dumps({"hash": SMALL.hash(corpus.hash), "precision": precision})
    )
    seen: set[torch.dtype] = set()

    def watch(layer: torch.nn.Module, inputs: object, output: torch.Tensor) -> None:
        if layer.training and output.requires_grad:
            seen.add(output.dtype)

    class Hooks(TrainerCallback):  # type: ignore[misc]
        def on_step_begin(
            self, args: Any, state: Any, control: Any, model: Any = None, **_: Any
        ) -> None:
            if state.global_step == 1:
                for layer in model.modules():
                    if isinstance(layer, torch.nn.Linear):
                        layer.register_forward_hook(watch)

    model = pretrain(
        tmp_path, corpus, SMALL, {"source": "train"}, progress=False, callbacks=[Hooks()]
    )
    assert seen == {torch.bfloat16 if precision == "bf16" else torch.float32}
    assert json.loads((model / "pretraining.json").read_text())["precision"] == precision
    assert {value.dtype for value in load_file(model / "model.safetensors").values()} == {
        torch.float32
    }


@pytest.mark.costly
def test_a_pretraining_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    data = ["--data", str(demo.prepare()), "--words", "3k"]
    assert command([*ASKED, *data], tmp_path)[0] == 0
    more = [
        "pretrain",
        "more",
        "--from",
        "out/model",
        "--text",
        "train",
        *data,
        "--length",
        "32",
        "--whole-word",
    ]
    code, out, err = command([*more, "--threads", "1"], tmp_path)
    assert code == 0, err
    vocabularies = [
        (tmp_path / name / "model" / "tokenizer.json").read_bytes() for name in ("out", "more")
    ]
    assert vocabularies[0] == vocabularies[1]
    assert re.fullmatch(r"Encoder: more/model   bits per byte [^\n]+\n", out)
    updates = json.loads((tmp_path / "more" / "model" / "pretraining.json").read_text())["seen"][
        "updates"
    ]
    lines = [line for line in err.splitlines() if line.startswith("update ")]
    assert re.fullmatch(rf"update 1 of {updates}: loss \d+\.\d{{3}}; about \d+ s left", lines[0])
    assert re.fullmatch(rf"update {updates} of {updates}: loss \d+\.\d{{3}}", lines[-1])
    assert f"Score it: blurb run more/model --name more --protocol quick --data {data[1]}" in err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "There is no text"),
        (["--text", "train"], "add --data"),
        (["--text", "nowhere.txt"], "nowhere.txt"),
        (["--text", "empty.txt"], "it is empty"),
        (["--text", "a.txt", "--mask-rate", "1"], "must be above 0 and below 1"),
        (["--text", "a.txt", "--words", "many"], "is no number of words"),
        (["--text", "a.txt", "--from", "nowhere"], "nowhere"),
    ],
)
def test_nothing_is_written_for_bad_input(tmp_path: Path, more: list[str], told: str) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "a.txt").write_text("one two three\n")
    assert told in refused(["pretrain", "out", *more], tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "text must be no empty text"),
        ([""], "There is no text"),
        (["a.txt", ""], "There is no text"),
    ],
)
def test_an_empty_name_of_a_text_is_not_the_working_folder(
    text: str | list[str], told: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=told):
        blurb.pretrain(tmp_path / "out", text)


@pytest.mark.costly
def test_a_fault_that_is_built_in_begins_where_it_was_asked_for(
    tmp_path: Path, corpus: PretrainingCorpus
) -> None:
    """Until then both runs have the same weights; `every` keeps checkpoints between the logarithmic ones."""
    from benchmarks.faulty_run import Spike

    recipe = replace(SMALL, words=4_000)
    folders = [tmp_path / "sound", tmp_path / "faulty"]
    for folder, faults in zip(folders, ([], [Spike(0.5, 3, 30.0)]), strict=True):
        about = {"source": "demo", "compared with": [], "datasets without original text": []}
        pretrain(folder, corpus, recipe, about, False, 4, faults)
    steps = sorted(int(path.name.split("-")[1]) for path in (folders[0] / "checkpoints").iterdir())
    last = steps[-1]
    assert {4, 8, 12} <= set(steps)
    begin = round(0.5 * last)
    for step in steps:
        first, second = (
            (folder / "checkpoints" / f"checkpoint-{step}" / "model.safetensors")
            for folder in folders
        )
        assert (first.read_bytes() == second.read_bytes()) == (step <= begin), step
