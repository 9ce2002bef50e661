"""Suites of one's own: a folder with `suite.toml` and task files, through every command; and all that may be wrong."""

import csv
import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

import blurb
from blurb import tasks
from blurb.data import raw
from blurb.data.loading import load_task
from blurb.messages import BlurbError, SettingsError, UnknownName
from tests.cli.in_process import ran, run
from tests.conftest import ROOT
from tests.test_guides import blocks

WORDS = ("mice", "rats", "yeast", "maize", "wheat", "flies", "frogs", "worms", "ducks", "goats")
TASK = """name = "{name}"
type = "ner"
labels = ["{label}"]
files = {{ train = "{folder}/train.tsv", dev = "{folder}/dev.tsv", test = "{folder}/test.tsv" }}
{more}

[format]
kind = "conll"

[entity]
{label} = "species"
"""
SUITE = 'name = "farm"\ntitle = "Beasts and plants"\nprotocol = "{protocol}"\n'


def write_suite(folder: Path, protocol: str = "smoke") -> Path:
    """A suite of two tasks that share an entity word, `barn` and `field`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suite.toml").write_text(SUITE.format(protocol=protocol), encoding="utf-8")
    for name, label in (("barn", "Animal"), ("field", "Species")):
        text = TASK.format(name=name, label=label, folder=name.title(), more="")
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def write_data(folder: Path) -> Path:
    """Their data in BLURB's layout; splits share some of their words."""
    for shift, name in enumerate(("Barn", "Field")):
        (folder / name).mkdir(parents=True)
        for at, split in enumerate(tasks.SPLITS):
            named = [WORDS[(each + at + shift) % len(WORDS)] for each in range(6)]
            text = "".join(
                f"{place}\tO\nsaw\tO\n{word}\tB\n.\tO\n\n" for place, word in enumerate(named)
            )
            (folder / name / f"{split}.tsv").write_text(text, encoding="utf-8")
    return folder


def invoke(*words: str) -> Result:
    result = run(*words)
    assert result.exception is None or isinstance(result.exception, SystemExit | BlurbError), result
    return result


@pytest.fixture
def farm(here: Path) -> str:
    """The folder of the suite, beside `data`; whatever is loaded is forgotten afterwards."""
    write_data(here / "data")
    return str(write_suite(here / "suite"))


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suites are known in a process by name once they are loaded: no test may see those of another one."""
    monkeypatch.setattr(tasks, "_loaded", dict(tasks._loaded))
    monkeypatch.setattr(tasks, "_files", dict(tasks._files))


def test_a_strangers_suite_works_from_its_folder(here: Path, farm: str) -> None:
    verified = ran(["data", "verify", "--suite", farm, "--data", "data", "--format", "json"])
    assert [(one["task"], one["train"], one["verdict"]) for one in json.loads(verified.stdout)] == [
        ("barn", 6, "not known"),
        ("field", 6, "not known"),
    ]
    said = ran(["run", "baseline:dictionary", "--suite", farm, "--data", "data"]).output
    assert "leaderboard.csv" not in said, "it has no line of this suite"
    assert f"blurb leaderboard show --suite {farm}" in said
    with open("runs/results.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["task"] for line in lines} == {"barn", "field"}
    assert {line["suite"] for line in lines} == {"farm"}
    assert {line["protocol"].partition("@")[0] for line in lines} == {"smoke"}
    with open("runs/leaderboard.csv", encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == []
    # No file that a row makes has the place of the suite: other machines have it elsewhere.
    for path in (here / "runs").rglob("*.json"):
        assert str(here) not in path.read_text(encoding="utf-8") or path.name == "job.json", path
    for words in (("--suite", farm), ("--suite", "farm"), ()):
        shown = ran(["leaderboard", "show", *words, "--format", "json", "--datasets"])
        (row,) = json.loads(shown.stdout)
        assert 0 < row["barn"] < 100


@pytest.mark.extensions
def test_a_strangers_suite_has_all_reports(here: Path, farm: str) -> None:
    given = ("--suite", farm, "--data", "data")
    ran(["run", "baseline:dictionary", *given])
    known = ran(["generalisation", "baseline:dictionary", *given])
    assert "barn" in known.stdout
    ran(["run", "baseline:bigrams", *given])
    few = invoke("compare", "baseline:bigrams", "baseline:dictionary", "--unseen", *given).exception
    assert "barn, field: fewer than 20 unseen gold mentions" in str(few)
    ran(["export", "row", "baseline:dictionary", "--out", "row"])
    tasks._loaded.pop("farm")
    tasks._files.clear()
    again = ran(["generalisation", "row", *given])
    assert again.stdout.splitlines()[1:] == known.stdout.splitlines()[1:]
    moved = ran(["transfer", "baseline:dictionary", *given])
    assert "species" in moved.stdout
    typed = ran(["transfer", "baseline:dictionary", *given, "--tasks", "gad, ner"])
    assert typed.stdout == moved.stdout, "a type is that of all suites that are named"
    ran(["leaderboard", "html", "--out", "page.html"])
    text = Path("page.html").read_text(encoding="utf-8")
    assert "Beasts and plants" in text
    assert "--suite farm --data DATA" in text
    assert "Gu et al." not in text


@pytest.mark.extensions
def test_the_page_works_as_it_stands(here: Path) -> None:
    """docs/suites.md: its files are written, its commands are typed."""
    write_data(here / "data")
    for language, content in blocks("suites.md"):
        if language == "toml":
            path = Path(content.split()[1])
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
        else:
            for line in content.splitlines():
                ran(shlex.split(line)[1:])
    assert "Beasts and plants" in Path("page.html").read_text(encoding="utf-8")


def test_the_table_has_the_figures_of_the_rows() -> None:
    """docs/suites.md against the row files beside it."""
    page = (ROOT / "docs" / "suites.md").read_text(encoding="utf-8")
    suite = {task.title: task for task in tasks.load_suite("mtl-ner").tasks}
    lines = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    table = {cells[0]: cells for cells in lines if len(cells) == 11 and cells[0] in suite}
    assert table.keys() == suite.keys()
    for name, place in (("dictionary", 5), ("bigrams", 7), ("minilm", 9)):
        folder = ROOT / "docs" / "results" / "mtl-ner" / name / "row"
        row = json.loads((folder / "row.json").read_text(encoding="utf-8"))
        assert row["suite"] == "mtl-ner"
        figures = {run["task"]: run for run in row["runs"]}
        for title, task in suite.items():
            run = figures[task.name]
            assert table[title][1] == next(iter(task.entity.values()))
            assert table[title][place] == f"{100 * run['test']['f1']:.2f}"
            assert (run["verdict"], run["test"]["gold"]) == ("identical", task.sizes["test"])


@pytest.mark.costly
@pytest.mark.extensions
def test_an_encoder_learns_a_strangers_suite_and_is_tested_off_its_corpora(farm: str) -> None:
    """Workers know a suite by the path of a task file alone, and a kept model of it has no path at all."""
    given = ("scratch:tiny", "--suite", farm, "--data", "data")
    ran(["run", *given, "--keep-model", "best", "--set", "max_updates=2", "--jobs", "2"])
    moved = ran(["transfer", *given, "--format", "json"])
    pairs = {(line["trained_on"], line["tested_on"]) for line in json.loads(moved.stdout)}
    assert pairs == {(a, b) for a in ("barn", "field") for b in ("barn", "field")}
    ran(["generalisation", *given])


def test_scores_of_other_tools_are_rows_of_the_suite(here: Path, farm: str) -> None:
    shutil.copy("data/Barn/test.tsv", "barn.conll")
    given = ("--suite", farm, "--data", "data", "--gold-as-predictions", "--add", "gold")
    ran(["score", "--predictions", "barn.conll", "--task", "barn", *given])
    (row,) = blurb.load_results("runs").rows
    assert (row.suite, row.score, row.means()) == ("farm", None, {"barn": 100.0})


def test_the_data_hash_has_the_declaration(here: Path, farm: str) -> None:
    """As of any task file: who edits its labels makes other trials, and not those of the same words."""
    task = tasks.load_suite(farm).tasks[0]
    before = load_task(task, Path("data")).hash
    assert load_task(replace(task, suite="", file=""), Path("data")).hash != before
    assert load_task(replace(task, title="Other"), Path("data")).hash == before
    assert load_task(replace(task, labels=("Beast",)), Path("data")).hash != before


@pytest.mark.extensions
def test_a_row_of_a_suite_that_is_not_known_names_it(here: Path, farm: str) -> None:
    invoke("run", "baseline:dictionary", "--suite", farm, "--data", "data")
    tasks._loaded.pop("farm")
    tasks._files.clear()
    for command in ("generalisation", "transfer"):
        refused = str(invoke(command, "baseline:dictionary", "--data", "data").exception)
        assert "no suite called 'farm'" in refused
        assert "Its folder must be typed" in refused


def refusal(folder: str) -> str:
    """What `data verify` says of a folder; nothing of it is known afterwards."""
    refused = invoke("data", "verify", "--suite", folder, "--data", "data")
    assert isinstance(refused.exception, BlurbError)
    assert not {"barn", "field"} & tasks._files.keys()
    assert "farm" not in tasks._loaded
    return str(refused.exception)


def test_all_faults_of_a_suite_are_told_at_once(here: Path, farm: str) -> None:
    suite = Path(farm, "suite.toml")
    suite.write_text('name = "My Farm"\ntitel = "T"\nprotocol = "./p.toml"\n', encoding="utf-8")
    Path(farm, "barn.toml").write_text("name = 'barn", encoding="utf-8")
    field = Path(farm, "field.toml").read_text(encoding="utf-8")
    Path(farm, "field.toml").write_text(
        field.replace("Field/train.tsv", "/etc/passwd").replace("[format]", "paper_order = 1\n[f]"),
        encoding="utf-8",
    )
    Path(farm, "gad.toml").write_text(
        TASK.format(name="gad", label="A", folder="Gad", more=""), encoding="utf-8"
    )
    Path(farm, "other.toml").write_text(
        TASK.format(name="another", label="A", folder="Gad", more=""), encoding="utf-8"
    )
    said = refusal(farm)
    for part in (
        "name must have only lower-case letters",
        "protocol must have only lower-case letters",
        "There is no key called 'titel'. Did you mean 'title'? Available: name, title, protocol",
        "'title' is missing",
        "barn.toml: invalid TOML",
        "train must be a path below the data folder (got '/etc/passwd')",
        "no key called 'paper_order'",
        "there is already a task gad",
        "the task calls itself another",
    ):
        assert part in said, said


def test_a_download_stays_below_the_folder_of_the_originals(here: Path, farm: str) -> None:
    """What a stranger's file says is read, and not obeyed: no path leads out, nothing but the web is fetched."""
    more = """
[source]
page = "a page"
files = "a file"

[[source.downloads]]
url = "file:///etc/passwd"
path = "../../.bashrc"
"""
    text = Path(farm, "barn.toml").read_text(encoding="utf-8")
    Path(farm, "barn.toml").write_text(text + more, encoding="utf-8")
    said = refusal(farm)
    assert "url must begin with https:// or http://" in said
    assert "path must be a path below the folder of the originals (got '../../.bashrc')" in said


def test_a_folder_without_its_files_is_no_suite(here: Path, farm: str) -> None:
    Path("empty").mkdir()
    assert "The folder empty has no suite.toml" in refusal("empty")
    Path("empty", "suite.toml").write_text(SUITE.format(protocol="quick"), encoding="utf-8")
    assert "has no task file" in refusal("empty")
    assert "A suite is also a folder with suite.toml" in refusal("nowhere")


@pytest.mark.parametrize("name", ["blurb", "demo", "mtl-ner"])
def test_the_names_of_blurb_are_taken(here: Path, farm: str, name: str) -> None:
    suite = Path(farm, "suite.toml")
    suite.write_text(suite.read_text().replace("farm", name), encoding="utf-8")
    assert f"there is another suite {name}" in refusal(farm)


def test_two_suites_have_no_task_of_one_name(here: Path, farm: str) -> None:
    other = write_suite(here / "second")
    (other / "suite.toml").write_text('name = "second"\ntitle = "S"\n', encoding="utf-8")
    tasks.load_suite(farm)
    with pytest.raises(BlurbError) as refused:
        tasks.load_suite(other)
    assert f"{Path(farm, 'barn.toml')} already declares a task barn" in str(refused.value)
    assert "field" in str(refused.value)
    assert "second" not in tasks._loaded
    (other / "suite.toml").write_text(SUITE.format(protocol="quick"), encoding="utf-8")
    for name in ("barn", "field"):
        (other / f"{name}.toml").unlink()
    new = TASK.format(name="pond", label="A", folder="Pond", more="")
    (other / "pond.toml").write_text(new, encoding="utf-8")
    with pytest.raises(BlurbError, match="there is another suite farm"):
        tasks.load_suite(other)
    (other / "pond.toml").rename(other / "anatem.toml")
    (other / "anatem.toml").write_text(new.replace("pond", "anatem"), encoding="utf-8")
    with pytest.raises(BlurbError, match="there is already a task anatem"):
        tasks.load_suite(other)


def test_tasks_are_chosen_from_their_suite(farm: str) -> None:
    assert [task.name for task in tasks.load_selection("all", farm)] == ["barn", "field"]
    assert [task.name for task in tasks.load_selection("ner", "farm")] == ["barn", "field"]
    for words, suite in (
        ("gad", "farm"),
        ("blurb-12", "farm"),
        ("barn", "blurb"),
        ("barn", "demo"),
    ):
        with pytest.raises(BlurbError, match="is of the suite"):
            tasks.load_selection(words, suite)
    assert not {"barn", "anatem"} & {task.name for task in tasks.load_selection("all")}


def test_ours_follow_the_same_rules() -> None:
    for name in tasks._suites.shipped_names():
        suite = tasks.load_suite(name)
        assert suite.name == name
        for task in suite.tasks:
            assert (task.suite, task.paper_order, task.file) == (name, None, "")
            assert task.hashes.keys() == task.sizes.keys() == {*tasks.SPLITS}
            assert set(task.entity) == set(task.labels)
            for file in task.source.downloads:
                assert "df0df02fae6dbb87d88ffcf323b9096528f06f84" in file.url
                assert len(file.sha256) == 64


def test_what_a_row_or_model_names_opens_no_folder(here: Path, farm: str) -> None:
    """A suite by its path, in whatever file: only what a person types is opened."""
    for name in (farm, "./suite", "farm"):
        with pytest.raises(UnknownName, match="Its folder must be typed: --suite FOLDER"):
            tasks.suite_of(name)
    stored = tasks.load_suite(farm).tasks[0].declaration
    assert (stored["file"], stored["suite"]) == ("", "farm")
    assert tasks.suite_of("farm").folder == Path(farm).resolve()


def test_a_stored_task_is_not_its_namesake(here: Path, farm: str) -> None:
    (task, _) = tasks.load_suite(farm).tasks
    for other in (replace(task, suite="zoo"), replace(task, suite="", file="/else/barn.toml")):
        with pytest.raises(SettingsError, match="type it: --task"):
            tasks.to_read(other)
        assert tasks.of_declaration(other.declaration, "x").suite == other.suite
    assert tasks.to_read(tasks.of_declaration(task.declaration, "x")) == task


def test_a_stored_relation_of_a_suite_keeps_its_direction(here: Path, farm: str) -> None:
    text = """name = "ppi"
type = "relation"
labels = ["no", "yes"]
negative = "no"
files = { train = "P/train.jsonl", dev = "P/dev.jsonl", test = "P/test.jsonl" }
format = { kind = "jsonl" }
"""
    Path(farm, "ppi.toml").write_text(text, encoding="utf-8")
    task = next(each for each in tasks.load_suite(farm).tasks if each.name == "ppi")
    head, tail = ({"start": at, "end": at + 1, "type": "P"} for at in (8, 0))
    record = {"text": "A binds B", "head": head, "tail": tail}
    for each in (task, tasks.of_declaration(task.declaration, "x")):
        assert raw.read(each, dict(record), 1, None).example["head"]["start"] == 8


def test_a_link_is_a_file_of_the_suite_in_which_it_lies(here: Path, farm: str) -> None:
    (here / "else").mkdir()
    Path(farm, "barn.toml").rename(here / "else" / "barn.toml")
    Path(farm, "barn.toml").symlink_to(here / "else" / "barn.toml")
    (task, _) = tasks.load_suite(farm).tasks
    assert tasks.load(task.file) == task


def test_no_suite_writes_over_the_data_of_another_task(here: Path, farm: str) -> None:
    barn = Path(farm, "barn.toml").read_text(encoding="utf-8")
    theirs = barn.replace("Barn/train.tsv", "NCBI-disease/train.tsv")
    Path(farm, "barn.toml").write_text(theirs, encoding="utf-8")
    tasks.load_suite(farm)  # to read it is allowed
    tasks._files.clear()
    tasks._loaded.pop("farm")
    built = theirs.replace('type = "ner"', 'type = "ner"\nbuilder = "mtl"')
    Path(farm, "barn.toml").write_text(built, encoding="utf-8")
    assert "is a file of the task ncbi-disease, which would be written over" in refusal(farm)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        *(
            (path, "train must be a path below the data folder")
            for path in ("", ".", "a/../../b", "/etc/passwd")
        ),
        ("a\\u0000b", "train must be without the character U+0000"),
    ],
)
def test_a_path_of_a_suite_is_below_its_folder(here: Path, farm: str, path: str, told: str) -> None:
    barn = Path(farm, "barn.toml").read_text(encoding="utf-8")
    Path(farm, "barn.toml").write_text(barn.replace("Barn/train.tsv", path), encoding="utf-8")
    assert told in refusal(farm)
