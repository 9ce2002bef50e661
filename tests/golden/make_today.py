"""How `today.zip` was made, once, by commit 775c52d as it was: it is read by `test_rendered.py` and never made anew.

Its store and tables were rewritten to schema 1 by `benchmarks/to_schema_1.py`, every figure equal.

    python -m tests.golden.make_today FOLDER [REAL DATA]

A store beside that of `make.py`, with what 53549ab could not write or does not show:

- real runs of the golden encoders: probes, a row on a part of the units, a search, a task file of one's own, the
  grids of all four ablations, the demo suite;
- invented predictions by today's writers, so many that differences are judged: `old`, and `fell`, which is worse on
  NCBI-disease and HoC; `once`, which has one seed;
- `m`, whose predictions are a submission: ids and numbers of words as in BLURB's test sets, labels drawn by lot.

Beside the store: its tables (`tables/`) and those of the ablations (`ablations/`), as today's code wrote them.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

from tests.golden import encoder

HERE = Path(__file__).parent
ZIP = HERE / "today.zip"
COMMON = ("--data", "data", "--raw", "data", "--output", "today", "--precision", "fp32", "--device", "cpu")
SHORT = ("--set", "epochs=2", "--set", "lr=0.01")
GRIDS = (
    ("./golden-encoder", "head", "bc5-chem,gad", "2"),
    ("./golden-encoder", "tagging", "bc5-disease", "2"),
    ("scratch:tiny", "relation", "ddi", "2"),
    ("scratch:tiny", "pooling", "chemprot", "1"),
)
"""Model, axis, tasks, seeds. The golden tokenizer takes no markers."""
SEARCHED = """note = "a search"
seeds = 2
[all]
epochs = 2
[search]
lr = [0.01, 0.001]
"""
KEPT = (
    "spec.json",
    "provenance.json",
    "metrics.json",
    "predictions.parquet",
    "history.csv",
    "log.txt",
    "DONE.json",
    "models.json",
    "store.json",
)
COLUMNS = ("split", "id", "doc_id", "gold", "prediction", "majority", "scores")
EPOCH = (1980, 1, 1, 0, 0, 0)


def blurb(*arguments: str) -> None:
    from click.testing import CliRunner

    from blurb.cli import cli

    print("blurb", *arguments, flush=True)
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    if result.exit_code:
        raise SystemExit(f"{arguments}: {result.output}")


def run(model: str, tasks: str, *more: str) -> None:
    blurb("run", model, *COMMON, "--tasks", tasks, *more)


def ran() -> None:
    """Real trials."""
    for model in ("./golden-encoder", "./other-encoder"):
        run(model, "bc5-chem,ebm-pico,ddi,biosses,hoc,pubmedqa", "--protocol", "probe")
    run("./golden-encoder", "gad,hoc", "--protocol", "sketch", "--set", "max_eval=4")
    Path("searched.toml").write_text(SEARCHED, encoding="utf-8")
    run("./golden-encoder", "biosses", "--protocol", "searched.toml")
    blurb(
        "tasks",
        "new",
        "mine",
        "--type",
        "ner",
        *(part for split in ("train", "dev", "test") for part in (f"--{split}", f"data/BC5CDR-chem/{split}.tsv")),
    )
    run("./golden-encoder", "./mine.toml", *SHORT, "--seeds", "2")
    for model, axis, tasks, seeds in GRIDS:
        blurb("ablate", model, "--axis", axis, *COMMON, "--tasks", tasks, "--seeds", seeds, *SHORT)
    blurb(
        "run",
        "scratch:tiny",
        "--suite",
        "demo",
        "--tasks",
        "gad,biosses",
        "--output",
        "today",
        "--precision",
        "fp32",
        "--device",
        "cpu",
        "--set",
        "epochs=1",
        "--set",
        "max_train=64",
    )


def invented() -> None:
    """Trials that nobody ran."""
    from blurb.store.store import Store
    from tests.results import played

    played.SIZES = {"dev": 40, "test": 50}
    store, shares = Store(Path("today")), dict.fromkeys(played.NAMES, 0.85)
    played.play(store, "old", shares)
    played.play(store, "fell", {**shares, "ncbi-disease": 0.5, "hoc": 0.4})
    played.play(store, "once", {"gad": 0.85, "biosses": 0.8}, (1,))
    played.play(store, "other data", {"gad": 0.85, "ddi": 0.85}, data="e")


def submitted(real: Path) -> None:
    """Trials of `m` on BLURB's ids; of GAD and BioASQ, which are counted, on as many invented ones."""
    from blurb import data, formulations, tasks
    from blurb.store import row_trials as rows
    from blurb.store.store import Store
    from tests.extensions.reports.export import stores
    from tests.store import fakes

    store, draw, trials = Store(Path("today")), random.Random(0), []
    for name in ("ncbi-disease", "gad", "biosses", "hoc", "pubmedqa", "bioasq"):
        task = tasks.get(name)
        formulation = formulations.bind(task, {})
        test = {"gad": stores.gad, "bioasq": stores.bioasq}.get(name)
        units = [drawn(task, unit, draw) for unit in (test() if test else data.read_split(task, real, "test"))]
        for seed in (1, 2) if name == "gad" else (1,):
            columns: dict[str, list[Any]] = {key: [] for key in COLUMNS}
            for split, some in (("dev", units[:12]), ("test", units)):
                for unit in some:
                    gold = formulation.gold(unit)
                    known = (
                        split,
                        unit["id"] if split == "test" else f"dev.{len(columns['id'])}",
                        unit["doc_id"],
                        gold,
                    )
                    given = stores.noisy(task, unit, draw)
                    for key, value in zip(COLUMNS, (*known, given, gold, None), strict=True):
                        columns[key].append(value)
            trials.append(fakes.trial(name, seed))
            verdict = "counts only" if name == "bioasq" else "identical"
            finish(store, trials[-1], formulation, columns, verdict)
    rows.write(store, fakes.row("m", *trials))


def finish(store: Any, trial: Any, formulation: Any, columns: dict[str, list[Any]], verdict: str) -> None:
    """The files of a trial of `m`."""
    from blurb.store import rescore
    from blurb.store.record import write_predictions
    from blurb.store.store import write_json

    with store.writing(store.path("m", trial.task, trial.hash)) as aside:
        write_json(aside / "spec.json", trial.content)
        started = f"2024-05-0{trial.seed}T10:00:00Z"
        write_json(aside / "provenance.json", {"data_verdict": verdict, "model": "m", "started": started})
        write_predictions(aside / "predictions.parquet", columns)
        write_json(aside / "metrics.json", rescore.figures(formulation, columns))
        (aside / "history.csv").write_text("epoch,loss,learning_rate,dev\n1,0.5,0.0001,0.6\n")
        (aside / "log.txt").write_text("\n")


def drawn(task: Any, unit: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """The id and the number of words of a unit, and nothing else of it."""
    kept = {"id": unit["id"], "doc_id": unit.get("doc_id")}
    if task.type == "ner":
        tags = [draw.choice(["O", "O", "O", f"B-{task.labels[0]}"]) for _ in unit["tokens"]]
        return {**kept, "tokens": [""] * len(tags), "tags": tags}
    if task.type == "similarity":
        return {**kept, "score": round(draw.uniform(0, 4), 1)}
    if task.type == "document":
        return {**kept, "labels": [label for label in task.labels if draw.random() < 0.1]}
    return {**kept, "label": draw.choice(task.labels)}


def anonymous() -> None:
    """Trials of a task file know where it was: their provenance gets another folder, and a seal that agrees."""
    from blurb.store.store import Store

    for path in Path("today").glob("*/mine/*/provenance.json"):
        text = path.read_text(encoding="utf-8").replace(str(Path.cwd()), "/home/somebody/blurb")
        path.write_text(text, encoding="utf-8")
        (path.parent / "DONE.json").unlink()
        Store(Path("today")).seal(path.parent)


def pack() -> None:
    """The archive: what is in it depends on nothing but the store."""
    with zipfile.ZipFile(ZIP, "w") as packed:
        kept = [path for path in Path("today").rglob("*") if path.name in KEPT or path.parent.name == "rows"]
        for path in sorted([*kept, *Path("tables").glob("*.csv"), *Path("ablations").glob("*.csv")]):
            packed.writestr(zipfile.ZipInfo(path.as_posix(), EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED)


def main(folder: Path, real: Path) -> None:
    """Everything, below `folder`; the store goes into the archive beside this file."""
    folder.mkdir(parents=True)
    shutil.copytree(HERE / "data", folder / "data")
    real = real.resolve()
    os.chdir(folder)
    encoder.build(Path("golden-encoder"))
    encoder.build(Path("other-encoder"), variant=2)
    ran()
    invented()
    submitted(real)
    anonymous()
    blurb("rescore", "--output", "today", "--leaderboard", "tables/leaderboard.csv")
    pack()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
