"""How `schema-1.zip` and `figures.json` were made, once, when the schemas began at 1; nobody makes them anew.

    python -m tests.frozen.make FOLDER

A store with its tables, from runs on the synthetic suite: an encoder with two seeds, a probe, a baseline, a task file,
and numbers of others. Whatever a later blurb changes, it reads them as they are, or a new schema has a script for them.
"""

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ZIP, FIGURES = HERE / "schema-1.zip", HERE / "figures.json"
EPOCH = (1980, 1, 1, 0, 0, 0)
COMMON = ("--precision", "fp32", "--device", "cpu")
DEMO = (
    *COMMON,
    "--suite",
    "demo",
    "--protocol",
    "smoke",
    "--set",
    "max_train=16",
    "--set",
    "max_eval=8",
)
TASK = """name = "mine"
type = "ner"
labels = ["GENE"]
[files]
train = "mine.tsv"
dev = "mine.tsv"
test = "mine.tsv"
[format]
kind = "conll"
token = 0
tag = 1
"""


def blurb(*arguments: str) -> None:
    from click.testing import CliRunner

    from blurb.cli import cli

    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    if result.exit_code:
        raise SystemExit(f"{arguments}: {result.output}")


def run() -> None:
    """The store `runs`, in the working folder."""
    blurb("run", "scratch:tiny", *DEMO, "--tasks", "gad,biosses", "--seeds", "2")
    blurb(
        "run",
        "scratch:tiny",
        *COMMON,
        "--suite",
        "demo",
        "--protocol",
        "probe",
        "--set",
        "max_train=16",
        "--set",
        "max_eval=8",
        "--tasks",
        "hoc",
    )
    blurb("run", "baseline:majority", *DEMO, "--tasks", "ncbi-disease,gad,hoc")
    Path("mine.toml").write_text(TASK, encoding="utf-8")
    Path("mine.tsv").write_text("a\tO\nb\tB-GENE\nc\tI-GENE\n\nd\tO\ne\tO\n", encoding="utf-8")
    blurb("run", "baseline:majority", *COMMON, "--tasks", "./mine.toml")
    blurb(
        "leaderboard",
        "add",
        "--model",
        "Somebody",
        "--source",
        "letter2020",
        "--score",
        "gad=80.5",
        "--runs",
        "3",
    )
    anonymous()
    blurb("rescore")


def anonymous() -> None:
    """What names this machine is replaced, and the trials are sealed again."""
    from blurb.store.store import Store

    store = Store(Path("runs"))
    for path in store.trial_folders():
        for name in ("provenance.json", "log.txt"):
            text = (path / name).read_text(encoding="utf-8")
            for place in (Path.cwd(), HERE.parents[1]):
                text = text.replace(str(place), "/home/somebody/blurb")
            (path / name).write_text(text, encoding="utf-8")
        store.seal(path)


def figures(folder: Path) -> dict[str, Any]:
    """Row -> dataset -> seed -> split -> metric -> figure, of the store and of its tables."""
    from blurb.results import from_store
    from blurb.row_files.references import file_rows, table_rows
    from blurb.store.store import Store

    def of(rows: Any) -> dict[str, Any]:
        return {
            f"{row.suite}: {row.name}": {
                task: {
                    str(seed): {
                        split: {name: one.value for name, one in of_split.items()}
                        for split, of_split in run.figures.items()
                    }
                    for seed, run in dataset.runs.items()
                }
                or dict(dataset.means)
                for task, dataset in row.datasets.items()
            }
            for row in rows
        }

    return {
        "store": of(from_store.read(Store(folder))),
        "results.csv": of(file_rows(folder / "results.csv")),
        "leaderboard.csv": of(table_rows(folder / "leaderboard.csv")),
    }


def main(folder: Path) -> None:
    """Everything, below `folder`; archive and figures go beside this file."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    run()
    FIGURES.write_text(json.dumps(figures(Path("runs")), indent=1) + "\n", encoding="utf-8")
    with zipfile.ZipFile(ZIP, "w") as packed:
        kept = (
            path
            for path in Path("runs").rglob("*")
            if path.is_file() and ".index" not in path.parts
        )
        for path in sorted(
            path for path in kept if ".sweeps" not in path.parts and path.suffix != ".lease"
        ):
            packed.writestr(
                zipfile.ZipInfo(path.as_posix(), EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
