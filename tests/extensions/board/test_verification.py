"""Rows that are sent in: honest ones are recomputed, planted frauds are told, hostile files are refused."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.extensions.board.boards import verify_board
from blurb.extensions.board.consistency import FATAL, SignalKind
from blurb.extensions.board.verification import Level, verify
from blurb.row_files.writing import MANIFEST
from tests.cli.in_process import blurb as command, done, refused
from tests.golden import schemas
from tests.scoring.test_forms import answers

NAMES = ("ncbi-disease", "gad", "biosses", "hoc")
Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of three kinds: another tool with two seeds, a baseline, and one on a part of the examples."""
    folder = tmp_path_factory.mktemp("rows")
    for seed in (1, 2):
        for name in NAMES:
            units = read_split(tasks.get(name), demo.prepare(), "test")
            found = answers(name, units)
            found[seed] = (
                found[seed - 1] if name != "ncbi-disease" else ["O"] * len(units[seed]["tokens"])
            )
            blurb.score(name, found, suite="demo", add="tool", seed=seed, output=folder / "runs")
    common = {
        "tasks": ",".join(NAMES),
        "suite": "demo",
        "output": folder / "runs",
        "progress": False,
    }
    blurb.run("baseline:majority", **common)
    blurb.run("baseline:constant", protocol="smoke", **common)
    blurb.run("baseline:bigrams", **{**common, "tasks": "gad,biosses,hoc"})
    for name, model in {
        "tool": "tool",
        "majority": "baseline:majority",
        "capped": "baseline:constant",
        "losses": "baseline:bigrams",
    }.items():
        done(["export", "row", model, "--output", "runs", "--out", name], folder)
    return folder


def forge(
    rows: Path,
    folder: Path,
    about: Callable[[dict[str, Any]], None] = lambda about: None,
    of: str = "tool",
    **tables: Any,
) -> Path:
    """A copy of a row with something changed, and hashes that fit again."""
    row = Path(shutil.copytree(rows / of, folder / "row"))
    content = json.loads((row / "row.json").read_text())
    about(content)
    (row / "row.json").write_text(json.dumps(content))
    for name, change in tables.items():
        path = row / f"{name.replace('_', '-')}.parquet"
        lines = pyarrow.parquet.read_table(path).to_pylist()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(change(lines)), path)
    seal(row)
    return row


def seal(row: Path) -> None:
    hashes = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in row.iterdir()
        if path.name != MANIFEST
    }
    (row / MANIFEST).write_text(json.dumps({"sha256": hashes}))


@pytest.mark.parametrize("name", ["tool", "majority", "capped", "losses"])
def test_an_honest_row_is_recomputed(name: str, rows: Path) -> None:
    found = verify(rows / name, demo.prepare())
    assert found.level is Level.RECOMPUTED
    assert [signal for signal in found.signals if signal.kind is not SignalKind.CAPPED] == []
    assert bool(found.signals) == (name == "capped")
    for figure in found.figures:
        assert figure["recomputed"] == pytest.approx(figure["claimed"], abs=1e-9)
    assert sum(path.stat().st_size for path in (rows / name).iterdir()) < 100_000


def put(*place: str | int, value: Any) -> Callable[[Any], None]:
    """Changes a description at a place.

    :param value: the new one, or how it is made of the old one
    """

    def change(content: Any) -> None:
        for step in place[:-1]:
            content = content[step]
        content[place[-1]] = value(content[place[-1]]) if callable(value) else value

    return change


edited = put("runs", 0, "test", "f1", value=lambda score: score + 0.02)


def each(**cells: Callable[[dict[str, Any]], Any]) -> Callable[[Lines], Lines]:
    """Changes cells of all lines."""
    return lambda lines: [
        {**line, **{name: cell(line) for name, cell in cells.items()}} for line in lines
    ]


def examples(split: tasks.Split) -> dict[str, str]:
    """Id -> label of GAD."""
    return {row["id"]: row["label"] for row in read_split(tasks.get("gad"), demo.prepare(), split)}


def sent_as_test(split: tasks.Split) -> Callable[[Lines], Lines]:
    return lambda lines: [
        {**line, "id": key} for line, key in zip(lines, list(examples(split)) * 9, strict=False)
    ]


def shuffled(lines: Lines) -> Lines:
    keys = [line["id"] for line in lines]
    return [{**line, "id": key} for line, key in zip(lines, keys[1:] + keys[:1], strict=True)]


def one_seed_twice(lines: Lines) -> Lines:
    first = [line for line in lines if line["seed"] == 1]
    return [*first, *({**line, "seed": 2} for line in first)]


def with_its_cap_hidden(about: dict[str, Any]) -> None:
    for run in about["runs"]:
        run["settings"] = {**run["settings"], "max_eval": 0}


FRAUDS: dict[str, tuple[SignalKind, dict[str, Any]]] = {
    "an edited figure": (SignalKind.FIGURE, {"about": edited}),
    "examples in another order": (SignalKind.FIGURE, {"gad": shuffled}),
    "predictions of another model": (SignalKind.FIGURE, {"gad": each(prediction=lambda line: "1")}),
    "gold answers under old figures": (
        SignalKind.FIGURE,
        {"gad": each(prediction=lambda line: examples("test")[line["id"]])},
    ),
    "an example dropped": (SignalKind.EXAMPLES, {"gad": lambda lines: lines[1:]}),
    "an example twice": (SignalKind.EXAMPLES, {"biosses": lambda lines: [*lines, lines[0]]}),
    "dev sent as test": (SignalKind.EXAMPLES, {"gad": sent_as_test("dev")}),
    "other data": (SignalKind.DATA, {"about": put("runs", 0, "data", value="0" * 64)}),
    "other metrics": (SignalKind.METRICS, {"about": put("runs", 0, "metrics_version", value=99)}),
    "fewer seeds than planned": (
        SignalKind.SEEDS,
        {"about": put("planned", "gad", value=[1, 2, 3, 4, 5])},
    ),
    "a loss edited": (
        SignalKind.FIGURE,
        {"of": "losses", "about": put("runs", 0, "dev", "log_loss", value=lambda loss: loss / 2)},
    ),
    "a loss without its examples": (
        SignalKind.FIGURE,
        {
            "of": "losses",
            "gad": lambda lines: [
                {name: cell for name, cell in line.items() if name != "loss"} for line in lines
            ],
        },
    ),
    "a truncated file": (SignalKind.EXAMPLES, {"hoc": lambda lines: lines[: len(lines) // 2]}),
    "seeds swapped": (SignalKind.FIGURE, {"gad": each(seed=lambda line: 3 - line["seed"])}),
    # As IOBES read by whoever knows BIO alone: every tag begins an entity
    "a tag scheme misread": (
        SignalKind.FIGURE,
        {
            "ncbi_disease": each(
                prediction=lambda line: [tag.replace("I-", "B-") for tag in line["prediction"]]
            )
        },
    ),
    "a cap hidden": (SignalKind.EXAMPLES, {"of": "capped", "about": with_its_cap_hidden}),
    "train sent as test": (SignalKind.EXAMPLES, {"gad": sent_as_test("train")}),
    "a label that there is not": (
        SignalKind.EXAMPLES,
        {"gad": lambda lines: [{**lines[0], "prediction": "2"}, *lines[1:]]},
    ),
    "one run as two": (SignalKind.SAME_RUNS, {"ncbi_disease": one_seed_twice}),
}


@pytest.mark.parametrize("fraud", FRAUDS)
def test_a_planted_fraud_is_told(fraud: str, rows: Path, tmp_path: Path) -> None:
    kind, changes = FRAUDS[fraud]
    found = verify(forge(rows, tmp_path, **changes), demo.prepare())
    assert kind in {signal.kind for signal in found.signals}
    if kind in FATAL:
        assert found.level is Level.CLAIMED


def test_who_says_that_other_data_are_the_release_is_told(rows: Path, tmp_path: Path) -> None:
    def about(content: dict[str, Any]) -> None:
        content["suite"] = "blurb"
        for run in content["runs"]:
            run["verdict"] = "identical"

    found = verify(forge(rows, tmp_path, about), demo.prepare())
    assert found.level is Level.CLAIMED
    assert any(
        "says that its data are identical, and they are" in str(signal) for signal in found.signals
    )


def test_the_best_part_of_the_examples_is_not_the_part_that_is_drawn(
    rows: Path, tmp_path: Path
) -> None:
    row = Path(shutil.copytree(rows / "capped", tmp_path / "row"))
    path = row / "hoc.parquet"
    lines = pyarrow.parquet.read_table(path).to_pylist()
    there = {line["id"] for line in lines}
    other = next(
        each["id"]
        for each in read_split(tasks.get("hoc"), demo.prepare(), "test")
        if each["id"] not in there
    )
    place = next(place for place, line in enumerate(lines) if line["split"] == "test")
    lines[place]["id"] = other
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(lines), path)
    seal(row)
    assert SignalKind.EXAMPLES in {signal.kind for signal in verify(row, demo.prepare()).signals}


def test_a_row_with_the_names_of_entities_needs_the_original_release(
    rows: Path, tmp_path: Path
) -> None:
    blurb.run(
        "baseline:bigrams",
        tasks="ddi",
        suite="demo",
        relation_input="markers",
        output=tmp_path / "runs",
        progress=False,
    )
    done(["export", "row", "baseline:bigrams", "--output", "runs", "--out", "named"], tmp_path)
    row, data = tmp_path / "named", demo.prepare()
    assert verify(row, data, raw=data).level is Level.RECOMPUTED
    asked = ["leaderboard", "verify", str(row), "--data", str(data)]
    assert done([*asked, "--raw", str(data)], tmp_path).splitlines()[-1].endswith(": recomputed")
    assert "ddi: its inputs are of the original release; --raw RAW gives it" in refused(
        asked, tmp_path
    )
    assert f"ddi: {tmp_path}: not found under this folder" in refused(
        [*asked, "--raw", str(tmp_path)], tmp_path
    )
    # Beside a row that needs none, on a board: what was not looked at keeps nothing from being recomputed.
    board = tmp_path / "board"
    for each, name in ((row, "named"), (rows / "tool", "tool")):
        Path(shutil.copytree(each, board / "rows" / name))
    levels = [
        {each["row"]: (each["level"], each["unseen"]) for each in found["rows"]}
        for found in (verify_board(board, data), verify_board(board, data, raw=data))
    ]
    of_tool = (Level.RECOMPUTED, [])
    assert levels == [
        {"named": (Level.CLAIMED, ["ddi"]), "tool": of_tool},
        {"named": (Level.RECOMPUTED, []), "tool": of_tool},
    ]
    (tmp_path / "other").mkdir()
    other = Path(shutil.copytree(data / "originals", tmp_path / "other" / "originals"))
    lines = (other / "ddi" / "test.jsonl").read_text().splitlines(keepends=True)
    (other / "ddi" / "test.jsonl").write_text("".join(lines[1:]))
    found = verify(row, data, raw=tmp_path / "other")
    assert SignalKind.DATA in {signal.kind for signal in found.signals}


def test_the_command_says_the_level_with_its_exit_code(rows: Path, tmp_path: Path) -> None:
    import jsonschema

    asked = ["leaderboard", "verify", "--suite", "demo"]
    code, out, _ = command([*asked, str(rows / "tool")], tmp_path)
    assert (code, out.splitlines()[-1]) == (0, "tool: recomputed")
    row = forge(rows, tmp_path, edited)
    code, out, _ = command([*asked, str(row)], tmp_path)
    assert (code, out.splitlines()[-1]) == (1, "tool: claimed")
    run = json.loads((row / "row.json").read_text())["runs"][0]
    assert (
        f"{run['task']}, seed {run['seed']}, {run['metric']} on test: figure edited: claimed" in out
    )
    code, out, _ = command([*asked, str(row), "--format", "json"], tmp_path)
    jsonschema.validate(json.loads(out), schemas.of_command("leaderboard verify"))
    assert json.loads(out)["level"] == "claimed"


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (
            ["model"],
            "<script>alert(1)</script>",
            "row.json: model must be 1 to 200 ordinary characters",
        ),
        (["model"], "=cmd|' /C calc'!A0", "row.json: model must be 1 to 200 ordinary characters"),
        (
            ["overrides"],
            {"lr": ["<b onload=1>"]},
            "has control characters or markup: '<b onload=1>'",
        ),
        (["schema"], 2, "schema 2; this blurb reads 1"),
        (["runs", 0, "task"], "../../etc/passwd", "is no dataset of blurb"),
        (["runs", 0, "metric"], "precision", "no f1 on test"),
        (["runs", 0, "test"], {}, "no f1 on test"),
        (["runs", 0, "test"], {"f1": "=1+1"}, "row.json"),
        (["runs", 0, "test", "f1"], 1.5, "a figure that cannot be, on test"),
        (["runs", 0, "test", "f1"], float("inf"), "has the number Infinity"),
        (["runs", 0, "settings", "max_eval"], "ten", "must be whole numbers"),
        (
            ["runs", 0, "settings", "epochs"],
            "many",
            "row.json: ncbi-disease, seed 1: settings: epochs must be",
        ),
        (
            ["runs", 0, "settings", "relation_input"],
            "scrambled",
            "no relation input called 'scrambled'",
        ),
        (
            ["runs", 2, "settings", "relation_input"],
            "original",
            "gad, seed 1: gad was released with dummies",
        ),
        (["runs", 1, "seed"], 1, "listed twice"),
        (["scored_on"], "first 20 examples", "row.json: 'scored_on' is no key of a row"),
        (["runs", 0, "drawn"], 3, "row.json: a run must have the keys task, seed, "),
        (["planned", "gad"], [1, 1, 2], "row.json: planned must be lists of seeds, each once"),
    ],
)
def test_a_hostile_description_is_refused(
    place: list[str | int], value: object, told: str, rows: Path, tmp_path: Path
) -> None:
    row = forge(rows, tmp_path, put(*place, value=value))
    assert told in refused(
        ["leaderboard", "verify", "--suite", "demo", str(row)], tmp_path / "empty"
    )


@pytest.mark.parametrize(
    ("seed", "split"), [(99, "test"), (1, "train"), (1, "tset")], ids=["seed", "split", "word"]
)
def test_predictions_that_belong_to_no_run_are_refused(
    seed: int, split: str, rows: Path, tmp_path: Path
) -> None:
    row = forge(
        rows, tmp_path, gad=lambda lines: [*lines, {**lines[0], "seed": seed, "split": split}]
    )
    said = refused(["leaderboard", "verify", "--suite", "demo", str(row)], tmp_path / "empty")
    assert f"gad.parquet: has predictions of ('gad', {seed}, '{split}'), of which row.json" in said


def test_a_run_that_was_left_out_leaves_no_predictions(rows: Path, tmp_path: Path) -> None:
    """The lowest seed, taken out of the description alone, was recomputed without a word."""

    def drop(about: dict[str, Any]) -> None:
        about["runs"] = [run for run in about["runs"] if (run["task"], run["seed"]) != ("gad", 1)]

    asked = ["leaderboard", "verify", "--suite", "demo", str(forge(rows, tmp_path, drop))]
    assert "has predictions of ('gad', 1, 'test')" in refused(asked, tmp_path / "empty")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("gad.parquet", Path("/etc/passwd"), "gad.parquet: is no ordinary file"),
        ("setup.py", b"raise SystemExit", "setup.py: is not a file of this row"),
        ("gad.parquet", None, "gad.parquet: the file is missing"),
        ("gad.parquet", b"", f"gad.parquet: the file is not the one whose hash is in {MANIFEST}"),
        ("gad.parquet", b"PAR1", "gad.parquet: cannot be read as Parquet"),
        ("row.json", b"{", "row.json"),
    ],
)
def test_hostile_files_are_refused(
    name: str, content: Path | bytes | None, told: str, rows: Path, tmp_path: Path
) -> None:
    """A link, a stranger, a file that is gone, one that was changed, one that is no Parquet, one that is no JSON."""
    row = forge(rows, tmp_path)
    (row / name).unlink(missing_ok=True)
    if isinstance(content, Path):
        (row / name).symlink_to(content)
    elif content is not None:
        (row / name).write_bytes(content)
    if content == b"PAR1":
        seal(row)
    assert told in refused(
        ["leaderboard", "verify", "--suite", "demo", str(row)], tmp_path / "empty"
    )


def many_rows(path: Path) -> pyarrow.Table:
    """Rows of one id and one label: five million in some kilobytes."""
    cells = {"seed": 1, "split": "test", "id": "x", "prediction": "1"}
    return pyarrow.table({name: pyarrow.repeat(value, 5_000_000) for name, value in cells.items()})


def long_texts(path: Path) -> pyarrow.Table:
    """Thirty rows with a text of fifty megabytes, which the file has once."""
    text = "y" * 50_000_000
    cells = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 30), pyarrow.array([text]))
    columns = {"seed": [1] * 30, "split": ["test"] * 30, "id": list(map(str, range(30)))}
    return pyarrow.table({**columns, "prediction": cells})


def dates(path: Path) -> pyarrow.Table:
    table = pyarrow.parquet.read_table(path)
    cells = pyarrow.array([2**60] * len(table), pyarrow.timestamp("ms"))
    return table.set_column(table.schema.get_field_index("prediction"), "prediction", cells)


def doubled(path: Path) -> pyarrow.Table:
    table = pyarrow.parquet.read_table(path)
    return table.append_column("prediction", table["prediction"])


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (many_rows, "it has 5,000,000 rows; at most"),
        (long_texts, "it holds more than 500,000,000 bytes when it is unpacked"),
        (dates, "gad.parquet: cannot be read as Parquet"),
        (doubled, "the column 'prediction' is doubled"),
    ],
)
def test_what_unpacks_to_more_than_a_row_has_is_refused(
    make: Callable[[Path], pyarrow.Table], told: str, rows: Path, tmp_path: Path
) -> None:
    row = forge(rows, tmp_path)
    pyarrow.parquet.write_table(make(row / "gad.parquet"), row / "gad.parquet", compression="zstd")
    assert (row / "gad.parquet").stat().st_size < 1_000_000
    seal(row)
    before = pyarrow.total_allocated_bytes()
    code, out, err = command(
        ["leaderboard", "verify", "--suite", "demo", str(row)], tmp_path / "empty"
    )
    assert (code, out, told in err, "bug" in err) == (2, "", True, False), err
    assert pyarrow.total_allocated_bytes() - before < 200_000_000


def test_nothing_but_ids_and_answers_is_in_the_files(rows: Path) -> None:
    for path in (rows / "tool").glob("*.parquet"):
        assert pyarrow.parquet.read_schema(path).names == ["seed", "split", "id", "prediction"]
    text = (rows / "tool" / "row.json").read_text()
    assert read_split(tasks.get("gad"), demo.prepare(), "test")[0]["text"] not in text
