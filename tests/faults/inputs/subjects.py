"""What commands read, made once: folders of which one file is changed, and the commands that read it."""

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from blurb import tasks
from blurb.corpora import demo
from blurb.store.store import Store
from blurb.system.files import SEAL, seal_folder
from tests.corpora import originals
from tests.faults.commands import blurb

Lines = tuple[str, ...]
A, B = "baseline:constant", "baseline:majority"
DEMO = "--suite demo --tasks gad,biosses,ncbi-disease"
CHECK = f"check {A} --baseline {B} --max-drop 5"


def lines(text: str) -> Lines:
    """Commands, one a line; `{0}` is left, for the file or folder that a command is given."""
    names = {"A": A, "B": B, "DEMO": DEMO, "CHECK": CHECK, "0": "{0}"}
    return tuple(
        re.sub(r"\{(\w+)\}", lambda name: names[name[1]], line.strip())
        for line in text.strip().splitlines()
    )


LOOKS = lines("""
    leaderboard show
    leaderboard html --out page.html
    rescore
    compare {A} {B}
    {CHECK}
    errors {A} --task gad
    diff {A} {B} --task gad
    doctor runs
    runs show {A}
    runs verify
    runs
    export model-index {A} --out out
    status
    export latex {A} --out out
    export markdown {A} --out out
    export submission {A} --out out
    gc --dry-run
    gc
    worker
    retry
    run {B} {A} {DEMO} --dry-run
    run {B} {A} {DEMO}
    runs rename {A} other
    runs rm {B} --yes
    leaderboard merge runs/results.csv --out merged
""")
RESULTS = lines("""
    leaderboard show --results {0} --output none
    leaderboard validate {0}
    doctor {0}
    check {0}:{A} --baseline runs:{B}
    check {0}:{A} --baseline {0}:{B} --max-drop 5 --across unknown
    compare {0}:{A} {0}:{B}
    leaderboard merge {0} --out merged
    leaderboard html --results {0} --out page.html
    rescore
    export latex {A} --out out
    leaderboard add Bar gad=8 --source x
""")
CHECKPOINT = lines("""
    doctor model
    models check model
    vocab model
    run ./model {DEMO} --protocol smoke --dry-run --device cpu
    run ./model --suite demo --tasks biosses --protocol smoke --device cpu
""")
SWEPT = lines("""
    worker
    retry
    status
    doctor runs
    gc
    worker --sweep {0} --part 0
    worker --sweep {0}
    runs
    runs rm {B} --yes
    run {B} {DEMO} --precision fp32 --engine slurm --print
""")
TASK = """name = "mine"
title = "Mine"
type = "document"
labels = ["a", "b"]
metric = "micro_f1"
seeds = 2
[format]
kind = "jsonl"
text = "text"
[files]
train = "a.jsonl"
dev = "a.jsonl"
test = "a.jsonl"
"""
PROTOCOL = """extends = "smoke"
note = "x"
seeds = 2
learner = "encoder"
[all]
lr = 1e-4
epochs = 2
head = "linear"
pooling = "cls"
max_length = 128
[tasks.gad]
lr = 2e-5
[search]
lr = [1e-5, 2e-5]
"""
RULES = """split = "dev"
level = 0.05
max_drop = 2.0
tasks = "all"
[overall]
max_drop = 0.5
[datasets.gad]
min_score = 3.0
"""
SETTINGS = {
    "task.toml": (
        TASK,
        lines("""
    doctor {0}
    tasks show {0}
    run {B} --tasks ./{0} --data . --dry-run
    run {B} --tasks ./{0} --data .
    data stats --data . --tasks ./{0}
    data verify --data . --tasks ./{0}
    """),
    ),
    "protocol.toml": (
        PROTOCOL,
        lines("""
    doctor {0}
    protocols show {0}
    run {B} {DEMO} --protocol {0} --dry-run
    run scratch:tiny {DEMO} --protocol {0} --dry-run --device cpu
    """),
    ),
    "blurb-check.toml": (
        RULES,
        lines("""
    doctor {0}
    {CHECK}
    check {A} --baseline {B} --rules {0}
    """),
    ),
}
EXTRA = {
    "model.safetensors.index.json": {
        "metadata": {},
        "weight_map": {"a": "model.safetensors", "b": "../../b.safetensors"},
    },
    "adapter_config.json": {"base_model_name_or_path": "x", "peft_type": "LORA"},
    "special_tokens_map.json": {"pad_token": "[PAD]"},
    "generation_config.json": {"x": 1},
}


@dataclass(frozen=True)
class Input:
    """A folder with one file to change.

    :param file: that file
    :param commands: those that read it; `{0}` stands for `where`
    :param sealed: it is sealed again after the change, as whoever alters it on purpose would
    """

    file: Path
    commands: Lines
    sealed: Callable[[], object] | None = None
    where: str = ""

    def command(self, rng: random.Random) -> list[str]:
        return rng.choice(self.commands).format(self.where).split()


class Subjects:
    """The folders that are copied (by hard links) for each input.

    :ivar KINDS: makers by name; each fills a folder and draws the file that is to be changed
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = self._run("store", f"run {A} {B} {DEMO}")
        blurb(["leaderboard", "add", "Foo", "gad=80", "biosses=70", "--source", "x"], self.store)
        self.swept = self._run("swept", f"run {B} {DEMO} --precision fp32 --engine slurm --print")
        kept = "run scratch:tiny --suite demo --tasks biosses,gad --protocol smoke --keep-model best --device cpu"
        self.kept = next(self._run("kept", kept).glob("runs/*/gad/*/model"))
        self.data = demo.prepare()
        self.raw = folder / "raw"
        for name in originals.NAMES:
            originals.put(self.raw / name, name)

    def _run(self, name: str, command: str) -> Path:
        code, said = blurb(command.split(), self.folder / name)
        assert code == 0, said
        return self.folder / name

    def trial(self, folder: Path, rng: random.Random) -> Input:
        """A file of a finished trial; mostly sealed again."""
        copy(self.store, folder)
        trial = rng.choice(sorted(folder.glob("runs/baseline-constant/*/*/spec.json"))).parent
        file = trial / rng.choice(
            ("spec.json", "provenance.json", "metrics.json", "predictions.parquet") * 3
            + ("history.csv", "log.txt", "DONE.json")
        )
        whole = rng.random() < 0.15 or file.name == "DONE.json"
        return Input(file, LOOKS, None if whole else lambda: sealed_again(folder, trial))

    def row(self, folder: Path, rng: random.Random) -> Input:
        """Files of a row, leases, reasons of failures, and notes beside the tables."""
        copy(self.store, folder)
        row = folder / "runs" / "baseline-constant"
        trial = next(row.glob("gad/*/spec.json")).parent
        note = {
            "host": "h",
            "pid": 1,
            "owner": "x",
            "news": "error",
            "message": "m",
            "schema": 1,
            "trial": json.loads((trial / "spec.json").read_text()),
        }
        marker = folder / "runs" / "store.json"
        files = [next(row.glob("rows/*.json")), row / "models.json", marker] * 3
        for path in (
            trial.with_name(f".{trial.name}.lease"),
            folder / "runs" / ".rows.lease",
            trial.with_name(trial.name + ".failed.json"),
            folder / "runs" / ".blurb-tables.lease",
        ):
            files.append(path)
        file = rng.choice(files)
        if not file.exists():
            file.write_text(json.dumps(note))
        return Input(file, LOOKS)

    def table(self, folder: Path, rng: random.Random) -> Input:
        copy(self.store, folder)
        name = rng.choice(("results.csv", "leaderboard.csv", "external.csv"))
        return Input(folder / "runs" / name, RESULTS, where=f"runs/{name}")

    def sweep(self, folder: Path, rng: random.Random) -> Input:
        copy(self.swept, folder)
        sweep = next(path for path in folder.glob("runs/.sweeps/*") if path.is_dir())
        return Input(
            sweep / rng.choice(("jobs.json", "jobs.json", "slurm.json")),
            SWEPT,
            where=str(sweep.relative_to(folder)),
        )

    def checkpoint(self, folder: Path, rng: random.Random) -> Input:
        copy(self.kept, folder / "model")
        for name in ("blurb.json", "head.safetensors", SEAL):
            (folder / "model" / name).unlink()
        file = (
            folder
            / "model"
            / rng.choice(
                ("config.json", "tokenizer_config.json", "tokenizer.json", "model.safetensors") * 3
                + tuple(EXTRA)
            )
        )
        if not file.exists():
            file.write_text(json.dumps(EXTRA[file.name]))
        return Input(file, CHECKPOINT[: None if rng.random() < 0.3 else -1])

    def kept_model(self, folder: Path, rng: random.Random) -> Input:
        copy(self.kept, folder / "model")
        names = (
            ("blurb.json",) * 5
            + ("head.safetensors",) * 2
            + (SEAL, "config.json", "tokenizer_config.json", "model.safetensors")
        )
        file = folder / "model" / rng.choice(names)
        reads = ("predict model --text kalomi",) * 4 + ("doctor model", "models check model")
        return Input(file, reads, None if file.name == SEAL else lambda: kept_again(file.parent))

    def settings(self, folder: Path, rng: random.Random) -> Input:
        """A task, protocol or rules of the user's."""
        copy(self.store, folder)
        name = rng.choice(sorted(SETTINGS))
        (folder / name).write_text(SETTINGS[name][0])
        (folder / "a.jsonl").write_text(
            '{"id": "1", "text": "x y", "label": "a"}\n{"id": "2", "text": "x z", "label": "b"}\n'
        )
        return Input(folder / name, SETTINGS[name][1], where=name)

    def examples(self, folder: Path, rng: random.Random) -> Input:
        """Data in BLURB's layout."""
        copy(self.data, folder)
        task = rng.choice(sorted(task.name for task in tasks.all()))
        files = [folder / name for name in tasks.get(task).files.values()]
        reads = (
            "data verify",
            "data stats",
            "data audit",
            f"run {B} --protocol smoke",
            f"run {A} --dry-run",
        )
        return Input(
            rng.choice(files), (*(f"{line} --data . --tasks {task}" for line in reads), "doctor .")
        )

    def release(self, folder: Path, rng: random.Random) -> Input:
        """The original release of a dataset."""
        name = rng.choice(originals.NAMES)
        copy(self.raw / name, folder / "raw")
        file = rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        return Input(file, (f"data prepare --raw raw --out out --tasks {name}",))

    KINDS: Sequence[str] = (
        "trial",
        "trial",
        "trial",
        "row",
        "table",
        "sweep",
        "checkpoint",
        "checkpoint",
        "kept_model",
        "settings",
        "examples",
        "release",
    )


def copy(source: Path, folder: Path) -> None:
    """A copy whose files are those of the source; what changes one replaces it."""
    shutil.copytree(source, folder, symlinks=True, copy_function=os.link, dirs_exist_ok=True)


def sealed_again(folder: Path, trial: Path) -> None:
    """As whoever alters a trial on purpose leaves it: its DONE.json agrees with its files."""
    done = json.loads((trial / "DONE.json").read_text())
    (trial / "DONE.json").unlink()
    (trial / "DONE.json").write_text(json.dumps(done))
    Store(folder / "runs").seal(trial)


def kept_again(model: Path) -> None:
    """The same of a kept model."""
    (model / SEAL).unlink()
    seal_folder(model)
