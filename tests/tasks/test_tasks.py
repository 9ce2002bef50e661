"""The thirteen declarations against the paper's Table 3 (written out here), and how tasks are chosen and added."""

import dataclasses
import importlib
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from blurb import data, metrics, tasks
from blurb.messages.errors import BlurbError, Notice, SettingsError, UnknownName

# Table 3 of Gu et al. (docs/benchmark.md, "Datasets") in its order: name, title, type, metric, train, dev, test.
TABLE_3 = [
    ("bc5-chem", "BC5-chem", "ner", "entity_f1", 5203, 5347, 5385),
    ("bc5-disease", "BC5-disease", "ner", "entity_f1", 4182, 4244, 4424),
    ("ncbi-disease", "NCBI-disease", "ner", "entity_f1", 5134, 787, 960),
    ("bc2gm", "BC2GM", "ner", "entity_f1", 15197, 3061, 6325),
    ("jnlpba", "JNLPBA", "ner", "entity_f1", 46750, 4551, 8662),
    ("ebm-pico", "EBM PICO", "pico", "token_macro_f1", 339167, 85321, 16364),
    ("chemprot", "ChemProt", "relation", "micro_f1_without", 18035, 11268, 15745),
    ("ddi", "DDI", "relation", "micro_f1_without", 25296, 2496, 5716),
    ("gad", "GAD", "relation", "binary_f1", 4261, 535, 534),
    ("biosses", "BIOSSES", "similarity", "pearson", 64, 16, 20),
    ("hoc", "HoC", "document", "multilabel_f1", 1295, 186, 371),
    ("pubmedqa", "PubMedQA", "qa", "accuracy", 450, 50, 500),
    ("bioasq", "BioASQ", "qa", "accuracy", 670, 75, 140),
]
NAMES = [row[0] for row in TABLE_3]


def test_all_tasks_are_those_of_table_3_in_its_order() -> None:
    assert [
        (
            task.name,
            task.title,
            task.type,
            task.metric,
            *(task.sizes[split] for split in tasks.SPLITS),
        )
        for task in tasks.all()
    ] == TABLE_3
    assert [task.paper_order for task in tasks.all()] == list(range(1, 14))


def test_ten_seeds_for_the_three_small_sets_and_five_for_the_rest() -> None:
    assert {task.name for task in tasks.all() if task.seeds == 10} == {
        "biosses",
        "pubmedqa",
        "bioasq",
    }
    assert {task.seeds for task in tasks.all()} == {5, 10}


def test_lengths_of_the_paper() -> None:
    assert {
        name: tasks.get(name).max_length for name in ("gad", "hoc", "chemprot", "ddi", "pubmedqa")
    } == {"gad": 128, "hoc": 128, "chemprot": 256, "ddi": 256, "pubmedqa": 512}


@pytest.mark.parametrize("name", NAMES)
def test_every_declaration_is_whole(name: str) -> None:
    task = tasks.get(name)
    assert set(task.files) == set(tasks.SPLITS)
    assert callable(metrics.get(task.metric))
    assert all(
        (task.licence, task.homepage.startswith("http"), task.citation.startswith("@"), task.unit)
    )
    module, _, function = task.reader.partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    assert all(len(value) == 64 for value in task.hashes.values())
    assert bool(task.released) == bool(task.explanation)


def test_tasks_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        tasks.get("gad").seeds = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("chemprot", "negative", "false"),
        ("ddi", "negative", "DDI-false"),
        ("gad", "positive", "1"),
        ("ebm-pico", "labels", ("PAR", "INT", "OUT")),
    ],
)
def test_negatives_and_positives_are_those_of_the_protocol(
    name: str, option: str, value: object
) -> None:
    assert tasks.get(name).metric_options[option] == value


def test_the_released_counts_where_they_differ_from_the_print() -> None:
    assert tasks.get("bc5-disease").expected("dev") == 4246
    assert [tasks.get("ebm-pico").expected(split) for split in tasks.SPLITS] == [
        337180,
        87308,
        16364,
    ]
    assert sum(tasks.get("ebm-pico").sizes[split] for split in ("train", "dev")) == 337180 + 87308


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("all", NAMES),
        ("blurb-12", NAMES[:12]),
        ("ner", NAMES[:5]),
        ("relation", ["chemprot", "ddi", "gad"]),
        ("qa,biosses", ["biosses", "pubmedqa", "bioasq"]),
        ("gad, bc5-chem ,gad,", ["bc5-chem", "gad"]),
        (["hoc", "document", "pico"], ["ebm-pico", "hoc"]),
    ],
)
def test_select_takes_names_and_types_once_in_the_papers_order(
    wanted: str | list[str], names: list[str]
) -> None:
    assert [task.name for task in tasks.select_tasks(wanted)] == names


@pytest.mark.parametrize(
    ("wanted", "error", "told"),
    [
        ("bc5-chm", UnknownName, "Did you mean 'bc5-chem'"),
        ("pubmed-qa", UnknownName, "Did you mean 'pubmedqa'"),
        ("relations", UnknownName, "Did you mean 'relation'"),
        *((nothing, SettingsError, "No task is selected") for nothing in ("", " , ", [])),
    ],
)
def test_select_suggests_what_was_meant(
    wanted: str | list[str], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        tasks.select_tasks(wanted)


def test_get_suggests_what_was_meant() -> None:
    with pytest.raises(
        UnknownName, match=r"no task called 'ncbi-diseases'. Did you mean 'ncbi-disease'"
    ):
        tasks.get("ncbi-diseases")


@pytest.mark.parametrize("name", ["blurb.tasks:SPLITS", "mine.toml", "./mine.py:TASK"])
def test_a_name_opens_nothing(name: str) -> None:
    with pytest.raises(UnknownName):
        tasks.get(name)
    with pytest.raises(UnknownName):
        tasks.select_tasks(name)


@pytest.fixture
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry that has not looked around yet; the old one is back afterwards."""
    old = tasks._registry
    monkeypatch.setattr(
        tasks, "_registry", type(old)(old.kind, old.package, old.attribute, old.group, old.contract)
    )


PLUGIN = (
    "import dataclasses\nfrom blurb import tasks\n"
    "TASK = dataclasses.replace(tasks.get('gad'), name={!r}, paper_order=None)"
)
DROPPED = """
name = "my-set"
type = "relation"
labels = ["yes", "no"]
files = { train = "my-set/train.tsv", dev = "my-set/dev.tsv", test = "my-set/test.tsv" }
"""


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_registry: None) -> Path:
    """A file that was put into the folder of the tasks."""
    monkeypatch.setattr(tasks, "__path__", [*tasks.__path__, str(tmp_path / "tasks")])
    (tmp_path / "tasks").mkdir()
    return tmp_path / "tasks" / "my-set.toml"


def test_a_new_task_is_one_new_file(dropped: Path, tmp_path: Path) -> None:
    dropped.write_text(
        DROPPED + 'format = { kind = "tsv", dummies = ["@A$", "@B$"] }\n', encoding="utf-8"
    )
    assert tasks.get("my-set").type == "relation"
    assert tasks.origin("my-set") == str(dropped)
    assert [task.name for task in tasks.all()] == [*NAMES, "my-set"]
    # The score is about the thirteen
    assert [task.name for task in tasks.select_tasks("all")] == NAMES
    assert [task.name for task in tasks.select_tasks("relation")] == ["chemprot", "ddi", "gad"]
    assert [task.name for task in tasks.select_tasks("my-set,gad")] == ["gad", "my-set"]
    (tmp_path / "my-set").mkdir()
    for split in tasks.SPLITS:
        (tmp_path / "my-set" / f"{split}.tsv").write_text(
            f"text\tlabel\n{split}: @A$ and @B$\tno\n"
        )
    rows = data.load_task(tasks.get("my-set"), tmp_path).splits["dev"]  # below the data folder
    assert [row["text"] for row in rows] == ["dev: @A$ and @B$"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DROPPED, "'format' or 'reader' is missing"),
        (DROPPED + 'reader = "os:system"', "no reader called 'os:system'"),
        (
            DROPPED + 'reader = "gad"\nsource = { page = "x", files = "x", downloads = [1] }',
            "downloads must be tables",
        ),
        (
            DROPPED + 'reader = "gad"\nsource = { page = "x" }',
            "my-set.toml, source: 'files' is missing",
        ),
        (DROPPED.replace("my-set", "other") + 'reader = "gad"', "calls itself other"),
    ],
)
def test_what_is_wrong_with_a_file_of_the_folder_is_told(
    dropped: Path, text: str, message: str
) -> None:
    dropped.write_text(text, encoding="utf-8")
    with pytest.raises(BlurbError, match=message):
        tasks.get("my-set")
    assert tasks.select_tasks("gad") == [tasks.get("gad")]  # nothing else is read


def test_a_file_names_code_by_keys_only() -> None:
    for path in tasks.__path__:
        for file in Path(path).glob("*.toml"):
            assert "blurb." not in file.read_text(encoding="utf-8").replace("docs/", ""), file


def test_a_new_task_may_come_by_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_registry: None
) -> None:
    (tmp_path / "blurb_test_plugin.py").write_text(PLUGIN.format("their-set"), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("their-set", "blurb_test_plugin:TASK", "blurb.tasks")
    monkeypatch.setattr(
        "blurb.registry.entry_points", lambda group: [point] if group == "blurb.tasks" else []
    )
    assert tasks.get("their-set").paper_order is None
    assert tasks.all()[-1].name == "their-set"


def test_a_name_that_is_taken_stays_with_blurb_and_a_note_names_both(
    monkeypatch: pytest.MonkeyPatch, fresh_registry: None
) -> None:
    point = EntryPoint("gad", "theirs:TASK", "blurb.tasks")
    monkeypatch.setattr("blurb.registry.entry_points", lambda group: [point])
    with pytest.warns(Notice, match=r"Two tasks have the name 'gad': .*gad.toml .* theirs:TASK"):
        assert tasks.all()
    assert tasks.get("gad").reader.startswith("blurb.")


@pytest.mark.parametrize(
    "value", ["no_such_module:TASK", "blurb.tasks:TWELVE", "blurb_test_plugin:TASK"]
)
def test_a_task_of_others_that_is_broken_stops_no_other(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_registry: None
) -> None:
    """A module that is not there, something that is no task, and a task that calls itself like another."""
    (tmp_path / "blurb_test_plugin.py").write_text(PLUGIN.format("gad"), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "blurb_test_plugin", raising=False)
    point = EntryPoint("mine", value, "blurb.tasks")
    monkeypatch.setattr("blurb.registry.entry_points", lambda group: [point])
    with pytest.warns(Notice, match="It is left out"):
        assert len(tasks.all()) == 13
    assert [task.name for task in tasks.select_tasks("gad")] == ["gad"]
    assert tasks.known_task("mine") is None
    with pytest.raises(SettingsError, match=r"no_such_module|of type str|calls itself gad"):
        tasks.select_tasks("mine")
