"""How the golden files were made, once, by commit 53549ab as it was: they are read by the tests and never made anew.

Store and tables were rewritten to schema 1 by `benchmarks/to_schema_1.py`, every figure equal; the intervals of
`leaderboard.csv` are those that `blurb rescore` computes since.

    python -m tests.golden.make FOLDER     # data/, store/, the tables, hashes.csv

Whatever differs from them later is a change of what users have: of trials that are done, of tables, of stores.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.golden import encoder

SIZES = {"train": 12, "dev": 6, "test": 8}
HEADED = ("GAD", "BIOSSES", "HoC")
OVERRIDES: dict[str, dict[str, Any]] = {
    "": {},
    "head=crf tagging=bioul": {"head": "crf", "tagging": "bioul"},
    "head=bilstm,hidden=32": {"head": "bilstm,hidden=32"},
    "word_pooling=mean": {"word_pooling": "mean"},
    "pooling=mean": {"pooling": "mean"},
    "pooling=attention": {"pooling": "attention"},
    "relation_input=original pooling=mention": {"relation_input": "original", "pooling": "mention"},
    "relation_input=typed-markers pooling=entity-start": {"relation_input": "typed-markers", "pooling": "entity-start"},
    "document_unit=abstract": {"document_unit": "abstract"},
    "layer_decay=0.9 reinit_layers=1": {"layer_decay": 0.9, "reinit_layers": 1},
    "max_train=8 max_eval=4": {"max_train": 8, "max_eval": 4},
}
ASKED = [*(("standard", text) for text in OVERRIDES), ("smoke", "")]
"""Protocol and overrides. Other protocols are still to change, and with them what they ask for."""
LEARNERS = ("encoder", "baseline:majority", "baseline:constant")
COLUMNS = ("learner", "task", "type", "protocol", "overrides", "trial")


def cut(path: str, content: str) -> str:
    """The first examples of a file of the demo suite."""
    size = next(size for split, size in SIZES.items() if split in Path(path).stem)
    if path.endswith(".json"):
        return json.dumps(dict(list(json.loads(content).items())[:size]), indent=1) + "\n"
    folder = path.partition("/")[0]
    lines = content.splitlines(keepends=True)
    if path.endswith(".jsonl") or folder in ("chemprot", "DDI", "BioASQ", *HEADED):
        return "".join(lines[: size + (folder in HEADED)])
    return "\n\n".join(content.split("\n\n")[:size]) + "\n\n"


def write_data(folder: Path) -> None:
    """The synthetic suite, cut to a few examples a split."""
    from blurb.corpora import demo

    for path, content in demo.files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(cut(path, content).encode())


def hashes(checkpoint: Path, data: Path) -> list[tuple[str, ...]]:
    """A line of `COLUMNS` for every trial of seed 1 that can be asked for."""
    from blurb import tasks
    from blurb.learners import building
    from blurb.messages.errors import SettingsError
    from blurb.planning import trials
    from blurb.protocols import protocol

    found = []
    for learner in LEARNERS:
        source = building.resolve(str(checkpoint) if learner == "encoder" else learner)
        for name, text in ASKED:
            request = trials.Request(
                sources=[source],
                tasks=tasks.all(),
                protocol=protocol.load(name),
                data=data,
                store=data / "none",
                precision="fp32",
                device="cpu",
                overrides=OVERRIDES[text],
                raw=data,
            )
            for task in tasks.all():
                try:
                    trial = trials.job(request, source, task, 1).trial
                except SettingsError:  # this head or input is not for this task
                    continue
                found.append((learner, task.name, str(task.type), name, text, trial.hash))
    # What an override leaves as it was says nothing more.
    return list({line[-1]: line for line in reversed(found)}.values())[::-1]


def main(folder: Path) -> None:
    """Everything, below `folder`."""
    from click.testing import CliRunner

    from blurb.cli import cli

    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    write_data(Path("data"))
    first, other = encoder.build(Path("golden-encoder")), encoder.build(Path("other-encoder"), variant=2)
    with Path("hashes.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *hashes(first, Path("data"))])

    def blurb(*arguments: str) -> None:
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        if result.exit_code:
            raise SystemExit(f"{arguments}: {result.output}")

    def run(model: Path | str, tasks: str, *more: str) -> None:
        common = ("--data", "data", "--raw", "data", "--output", "store", "--precision", "fp32", "--device", "cpu")
        blurb("run", str(model), *common, "--tasks", tasks, *more)

    Path("worded.toml").write_text('note = "the first words"\nseeds = 2\n[all]\nepochs = 1\n', encoding="utf-8")
    blurb(
        "leaderboard",
        "add",
        "--model",
        "Somebody",
        "--source",
        "letter2020",
        "--version",
        "v1",
        "--score",
        "gad=80.5",
        "--score",
        "biosses=90.25",
    )
    learns = ("--seeds", "2", "--set", "lr=0.01", "--set", "epochs=40", "--set", "batch_size=16")
    run(first, "all", *learns)
    run("baseline:majority", "all")
    run(other, "ncbi-disease,gad,biosses", "--protocol", "quick", *learns)
    run(first, "bc5-chem,hoc", "--protocol", "smoke", "--head", "bilstm")
    run(first, "biosses", "--protocol", "smoke", "--set", "max_length=32")  # cuts every pair
    run(first, "gad", "--protocol", "worded.toml")
    Path("worded.toml").write_text('note = "other words"\nseeds = 2\n[all]\nepochs = 1\n', encoding="utf-8")
    run(first, "gad", "--protocol", "worded.toml")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
