"""A trial is one process, whatever launched it. Oracle: the same trial without the variables."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from blurb.system import process
from tests.rewriting import csv_lines

TORCHRUN = {
    "RANK": "0",
    "WORLD_SIZE": "2",
    "LOCAL_RANK": "0",
    "LOCAL_WORLD_SIZE": "2",
    "GROUP_RANK": "0",
    "ROLE_RANK": "0",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29511",
    "TORCHELASTIC_RUN_ID": "x",
}
LAUNCHERS = [
    TORCHRUN,
    {"LOCAL_RANK": "1"},
    {"WORLD_SIZE": "2"},
    {"PMI_SIZE": "4", "PMI_RANK": "0"},
    {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "1"},
    {"MV2_COMM_WORLD_SIZE": "2", "MV2_COMM_WORLD_LOCAL_RANK": "1"},
    {"ACCELERATE_USE_DEEPSPEED": "true"},
    {"ACCELERATE_USE_FSDP": "true"},
    {"ACCELERATE_DYNAMO_BACKEND": "INDUCTOR"},
    {"ACCELERATE_MIXED_PRECISION": "fp16"},
    {"ACCELERATE_GRADIENT_ACCUMULATION_STEPS": "8"},
]
STAY = {
    "SLURM_JOB_ID": "7",
    "SLURM_ARRAY_TASK_ID": "3",
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",
}
TRAINING = """
import sys
from transformers import AutoModelForMaskedLM, AutoTokenizer, Trainer, TrainingArguments
from blurb.extensions.series.callback.trainer import BlurbCallback

if __name__ == "__main__":
    checkpoint, output, where = sys.argv[1:]
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    ids = tokenizer("a cell and a gene", return_tensors="pt")["input_ids"][0]
    callback = BlurbCallback("biosses", suite="demo", protocol="smoke", device="cpu", output=output, where=where)
    Trainer(
        model=AutoModelForMaskedLM.from_pretrained(checkpoint),
        args=TrainingArguments(
            output + "/bert", max_steps=4, save_steps=2, use_cpu=True, report_to=[], ddp_backend="gloo"
        ),
        train_dataset=[{"input_ids": ids, "labels": ids}] * 64,
        processing_class=tokenizer,
        callbacks=[callback],
    ).train()
    if callback.scores:
        print("SCORED", sorted(callback.scores))
"""


def _run(output: Path, variables: dict[str, str], *options: str) -> None:
    command = [
        sys.executable,
        "-m",
        "blurb",
        "run",
        "baseline:bilstm,vocabulary=words",
        "--suite",
        "demo",
    ]
    command += [
        "--protocol",
        "smoke",
        "--tasks",
        "gad",
        "--precision",
        "fp32",
        "--output",
        str(output),
        *options,
    ]
    subprocess.run(
        command, env={**os.environ, **variables}, check=True, timeout=120, capture_output=True
    )


def _rows(output: Path) -> list[dict[str, str]]:
    return [
        {name: row[name] for name in ("split", "metric", "value")}
        for row in csv_lines(output / "results.csv")
    ]


@pytest.mark.costly
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_variables_of_a_launcher_change_nothing(tmp_path: Path, jobs: str) -> None:
    _run(tmp_path / "plain", {})
    for number, variables in enumerate(
        (*LAUNCHERS[:1], *LAUNCHERS[-3:]) if jobs == "1" else LAUNCHERS[:1]
    ):
        _run(tmp_path / str(number), variables, "--jobs", jobs)
        assert _rows(tmp_path / str(number)) == _rows(tmp_path / "plain"), variables


@pytest.mark.costly
def test_what_may_change_time_and_rounding_is_in_the_provenance(tmp_path: Path) -> None:
    _run(tmp_path, {**TORCHRUN, **STAY})
    (path,) = tmp_path.glob("*/gad/*/provenance.json")
    assert json.loads(path.read_text(encoding="utf-8"))["environment"]["variables"] == STAY


@pytest.mark.costly
def test_a_pretraining_is_one_process_too(tmp_path: Path) -> None:
    """It waited for another process, and accumulated gradients that its recipe does not count."""
    words = [
        f"{a}{b}{c}"
        for a in ("ka", "lo", "min")
        for b in ("tox", "ra", "be", "cho")
        for c in ("lin", "da", "pe", "su")
    ]
    lines = [" ".join(words[(n * k) % len(words)] for k in range(1, 12)) for n in range(1, 300)]
    (tmp_path / "text.txt").write_text("\n\n".join(lines), encoding="utf-8")
    losses = []
    for name, variables in (("plain", {}), ("launched", {**TORCHRUN, **LAUNCHERS[-1]})):
        command = [sys.executable, "-m", "blurb", "pretrain", str(tmp_path / name)]
        command += [
            "--text",
            str(tmp_path / "text.txt"),
            "--words",
            "2k",
            "--vocabulary",
            "120",
            "--batch",
            "4",
        ]
        environment = {**os.environ, **variables}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 0, done.stderr[-1500:]
        written = json.loads(
            (tmp_path / name / "model" / "pretraining.json").read_text(encoding="utf-8")
        )
        # A busy machine is slower
        seen = {key: value for key, value in written["seen"].items() if "second" not in key}
        losses.append({**written, "seen": seen})
    assert {k: v for k, v in losses[0].items() if "second" not in k} == {
        k: v for k, v in losses[1].items() if "second" not in k
    }


@pytest.mark.parametrize("variables", LAUNCHERS)
def test_the_environment_is_put_back(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name, value in {**variables, **STAY}.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with process.one_process():
        assert os.environ.items() >= STAY.items()
        assert not os.environ.keys() & variables.keys()
        assert process.launcher_free_environment() == dict(os.environ)
    assert dict(os.environ) == before


@pytest.mark.costly
@pytest.mark.parametrize("where", ["now", "queue"])
@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_training_of_several_processes_gets_its_scores(
    tmp_path: Path, checkpoint: object, where: str, processes: str
) -> None:
    """The scoring process joined the process group of the training, which stood still."""
    script = tmp_path / "train.py"
    script.write_text(TRAINING, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc_per_node",
        processes,
        "--master_port",
        "29617",
    ]
    command += [str(script), str(checkpoint("bert_uncased")), str(tmp_path / "out"), where]  # type: ignore[operator]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "SCORED [2, 4]" in done.stdout, done.stderr[-2000:]
