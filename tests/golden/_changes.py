"""What happens to the inputs of some cases before their commands run."""

import json
import shutil
from pathlib import Path

from blurb import tasks
from blurb.data.loading import read_split
from blurb.inputs import tagging
from blurb.system.lease_records import LeaseRecord


def own_table(folder: Path) -> None:
    """The published numbers that stand beside the tables, in the place where they count."""
    shutil.copy(folder / "before" / "external.csv", folder / "store")


def damage(folder: Path) -> None:
    """A file of a trial is not what was sealed, another is gone, and a third trial was never finished."""
    first, second, third = sorted((folder / "store" / "golden-encoder").glob("*/*/DONE.json"))[:3]
    with (first.parent / "metrics.json").open("a", encoding="utf-8") as file:
        file.write(" ")
    (second.parent / "predictions.parquet").unlink()
    third.unlink()


def open_trials(folder: Path) -> None:
    """Of the store a trial failed, one runs on another machine, one is saved and one was never begun; and leftovers."""
    failed, running, saved, new, done = (
        path.parent
        for path in sorted((folder / "store" / "golden-encoder").glob("*/*/DONE.json"))[:5]
    )
    for path in (failed, running, saved, new):
        shutil.rmtree(path)
    failed.with_name(f"{failed.name}.failed.json").write_text(
        '{"message": "CUDA out of memory"}', encoding="utf-8"
    )
    news = {"epoch": 1, "epochs": 3, "done": 40, "total": 90, "dev": 0.731}
    holder = LeaseRecord(
        "0" * 32, "node7", "boot", "namespace", 4711, 1, "2026-01-31T12:00:00Z", 9, news
    )
    running.with_name(f".{running.name}.lease").write_bytes(holder.content())
    for place in (
        saved.with_name(f".{saved.name}.checkpoint"),
        done.with_name(f".{done.name}.checkpoint"),
    ):
        place.mkdir()
        (place / "values.json").write_text("{}", encoding="utf-8")


def lose_a_seed(folder: Path) -> None:
    """The second run of GAD of `fell` is not there (yet)."""
    shutil.rmtree(sorted((folder / "today" / "fell" / "gad").glob("*/DONE.json"))[1].parent)


def some_predictions(folder: Path) -> None:
    """Answers of another tool for the test sets of `data`: some right, some wrong, in the forms that tools write."""
    data, out = folder / "data", folder / "predictions"
    out.mkdir()
    gad = [f"{row['id']}\t1" for row in read_split(tasks.get("gad"), data, "test")]
    (out / "gad.tsv").write_text("\n".join(gad) + "\n")
    rows = read_split(tasks.get("chemprot"), data, "test")
    lines = [
        {"id": row["id"], "prediction": row["label"] if place % 2 else "false"}
        for place, row in enumerate(rows)
    ]
    (out / "chemprot.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = read_split(tasks.get("ncbi-disease"), data, "test")
    tagged = [
        zip(row["tokens"], tagging.convert_tags(row["tags"], "bio", "bioul"), strict=True)
        for row in rows
    ]
    blocks = ["".join(f"{word} {tag}\n" for word, tag in words) for words in tagged]
    (out / "ncbi-disease.conll").write_text("\n".join(blocks).replace("U-Disease", "O", 1))
    scores = [
        f"{row['id']},{row['score'] / 2 + 0.1 * place:.2f}"
        for place, row in enumerate(read_split(tasks.get("biosses"), data, "test"))
    ]
    (out / "biosses.csv").write_text("\n".join(["id,prediction", *scores]) + "\n")


def some_row(folder: Path) -> None:
    """The files of a row of `store`."""
    row = "golden-encoder standard batch_size=16 epochs=40 lr=0.01"
    from blurb.extensions.reports.export import formats

    wanted = formats.ExportRequest(folder / "store", tasks.load_selection("all"), rows=(row,))
    formats.write(formats.render("row", wanted), folder / "row", alone=True)


def some_terms(folder: Path) -> None:
    """A file of terms."""
    (folder / "lines.txt").write_text("insulin\nacetyltransferase\n", encoding="utf-8")


def split_in_two(folder: Path) -> None:
    """The results of two machines, with common lines, and one with another value for one of them."""
    head, *lines = (
        (folder / "tables" / "results.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    )
    old = [line for line in lines if ",old," in line]
    (folder / "one.csv").write_text(
        "".join([head, *old[:300], *(line for line in lines if ",once," in line)])
    )
    (folder / "two.csv").write_text("".join([head, *old[200:]]))
    cells = old[250].split(",")
    cells[head.split(",").index("value")] = "12.3456"
    (folder / "wrong.csv").write_text("".join([head, ",".join(cells)]))


def alter_tables(folder: Path) -> None:
    """Tables that no version wrote, or that were edited by hand."""
    text = (folder / "tables" / "results.csv").read_text(encoding="utf-8")
    (folder / "newer.csv").write_text(text.replace("\n1,", "\n99,"))
    (folder / "older.csv").write_text(text.replace("\n1,", "\n7,"))
    lines = text.splitlines(keepends=True)
    (folder / "twice.csv").write_text("".join([*lines[:20], lines[5]]))
    (folder / "short.csv").write_text("".join([*lines[:5], "1,blurb\n"]))
    (folder / "empty.csv").write_text(lines[0])


def other_schemas(folder: Path) -> None:
    """A store and a table of before schema 1, and a store of a newer blurb."""
    (folder / "store" / "store.json").unlink()
    (folder / "newer").mkdir()
    (folder / "newer" / "store.json").write_text('{"schema": 2}')
    alter_tables(folder)
