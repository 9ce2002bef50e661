"""The row that somebody names. Oracle: the store itself, read without a reference, and the files beside it."""

import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from blurb.messages.errors import BlurbError, DataError, SettingsError, Tell, UnknownName
from blurb.results import from_store, published, tables
from blurb.results.row import Origin, Row
from blurb.row_files.references import (
    file_rows,
    find_trial,
    pick_row,
    resolve,
    resolve_all,
    table_rows,
)
from blurb.store import index, row_trials as rows
from blurb.store.store import Store
from tests.cli.in_process import ran, run
from tests.store import fakes


def fill(store: Store, model: str, *configurations: object, score: float = 0.5) -> None:
    """A row a configuration, of two seeds on GAD."""
    trials = [fakes.trial(seed=seed, weights=f"{model[:1]:w<64}") for seed in (1, 2)]
    for each in trials:
        fakes.finish(store, model, each, score)
    for configuration in configurations or (fakes.CONFIGURATION,):
        rows.write(store, fakes.row(model, *trials, configuration=configuration))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`runs` with a and org/b, of which b has two rows; `other` with c; tables of both; a paper's number."""
    folder = tmp_path_factory.mktemp("references")
    store = Store(folder / "runs")
    fill(store, "a")
    fill(store, "org/b", fakes.CONFIGURATION, replace(fakes.CONFIGURATION, precision="bf16"))
    fill(Store(folder / "other"), "c", score=0.75)
    published.add(
        folder / "external.csv", published.Printed("us2026", "v1", "Theirs", {"gad": 81.5})
    )
    tables.rebuild(store, folder / "leaderboard.csv")
    (folder / "alone").mkdir()
    shutil.copy(folder / "leaderboard.csv", folder / "alone" / "leaderboard.csv")
    (folder / "empty").mkdir()
    return folder


@pytest.fixture(autouse=True)
def _here(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)


def named(reference: str) -> Row:
    return resolve(reference, Path("runs"))


def refused(reference: str) -> BlurbError:
    with pytest.raises(BlurbError) as caught:
        named(reference)
    return caught.value


def test_a_row_of_the_store_by_its_model_or_its_whole_name() -> None:
    stored = from_store.read(Store(Path("runs")))
    assert len({row.name for row in stored}) == 3
    for row in stored:
        assert named(row.name) == row
    assert named("a") == next(row for row in stored if row.model == "a")
    text = str(refused("org/b"))
    assert all(f"'{row.name}'" in text for row in stored if row.model == "org/b")
    assert "'a " not in text


def test_a_row_of_another_store_by_its_folder(made: Path) -> None:
    (other,) = from_store.read(Store(Path("other")))
    for reference in (
        "other",
        "other/",
        "./other",
        f"{made}/other",
        "other:c",
        f"other:{other.name}",
    ):
        row = named(reference)
        assert (row.primary_key, row.means(), row.run_counts) == (
            other.primary_key,
            other.means(),
            [2],
        )
    assert named("runs:a").model == "a"
    text = str(refused("runs"))  # several
    assert all(f"'{row.name}'" in text for row in from_store.read(Store(Path("runs"))))
    assert isinstance(refused("other:d"), UnknownName)


@pytest.mark.parametrize("name", ["results.csv", "leaderboard.csv"])
def test_a_row_of_a_table_has_its_runs(name: str) -> None:
    row = named(f"{name}:a")
    assert (row.origin, row.run_counts, row.means()) == (Origin.RESULTS, [2], {"gad": 50.0})
    assert row.primary_key == named("a").primary_key
    assert "'org/b quick lr=0.001 bf16'" in str(refused(name))


def test_a_leaderboard_alone_has_means_and_no_runs() -> None:
    row = named("alone/leaderboard.csv:a")
    assert (row.origin, row.run_counts, row.means()) == (Origin.LEADERBOARD, [2], {"gad": 50.0})
    assert [one.run_counts for one in table_rows(Path("leaderboard.csv"))] == [[2], [2], [2], []]


def test_numbers_of_others_in_a_leaderboard_are_rows_without_runs() -> None:
    for reference in ("leaderboard.csv:Theirs", "alone/leaderboard.csv:Theirs"):
        row = named(reference)
        assert (row.source, row.version, row.means(), row.run_counts) == (
            "us2026",
            "v1",
            {"gad": 81.5},
            [],
        )
    assert [row.model for row in file_rows(Path("leaderboard.csv"))] == [
        "a",
        "org/b",
        "org/b",
        "Theirs",
    ]


def test_a_leaderboard_of_numbers_of_others_alone_needs_no_runs(tmp_path: Path) -> None:
    """The table of an empty store: its results.csv has a heading and no line."""
    published.add(
        tmp_path / "external.csv", published.Printed("us2026", "v1", "Theirs", {"gad": 81.5})
    )
    tables.rebuild(Store(tmp_path / "runs"), tmp_path / "leaderboard.csv")
    (row,) = file_rows(tmp_path / "leaderboard.csv")
    assert (row.model, row.means()) == ("Theirs", {"gad": 81.5})


def test_runs_beside_a_leaderboard_that_are_not_all_of_it_are_not_its_own(tmp_path: Path) -> None:
    shutil.copy("leaderboard.csv", tmp_path / "leaderboard.csv")
    head, *lines = Path("results.csv").read_text().splitlines(keepends=True)
    (tmp_path / "results.csv").write_text(
        "".join([head, *(line for line in lines if ",a," not in line)])
    )
    assert [row.run_counts for row in file_rows(tmp_path / "leaderboard.csv")] == [
        [2],
        [2],
        [2],
        [],
    ]


def test_a_published_row_by_its_model_and_source() -> None:
    row = named("published:PubMedBERT (gu2021)")
    assert row in published.shipped()
    assert (row.model, row.source) == ("PubMedBERT", "gu2021")
    assert named("published:BioLinkBERT-base").source == "linkbert2022"
    text = str(refused("published:PubMedBERT"))  # two papers print it
    assert "(gu2021)" in text
    assert "(linkbert2022)" in text
    assert "'PubMedBERT'" in str(refused("published:PubMedBRT"))


def test_what_is_not_there_is_told_with_what_is_near() -> None:
    assert "'a'" in str(refused("aa"))
    for reference in ("none.csv", "none.csv:a", "none/", "nowhere/runs/"):
        assert isinstance(refused(reference), DataError)
        assert reference.rstrip("/") in str(refused(reference))
    assert "empty" in str(refused("empty"))
    assert isinstance(refused("external.csv"), DataError)  # a table of another kind


def test_a_model_with_the_name_of_a_file_or_folder_here_is_the_one_of_the_store(
    made: Path, store: Store
) -> None:
    for model in ("other", "results.csv", "other:c"):
        fill(store, model)
    for model in ("other", "results.csv", "other:c"):
        assert resolve(model, store.root).model == model


def test_a_checkpoint_may_lie_where_its_row_is_asked_for(made: Path, tmp_path: Path) -> None:
    (made / "a").mkdir()
    (made / "a" / "config.json").write_text("{}")
    assert named("a").model == "a"
    shutil.rmtree(made / "a")


def test_a_path_may_have_colons(tmp_path: Path) -> None:
    folder = tmp_path / "at 10:30"
    shutil.copytree("other", folder)
    assert {named(reference).model for reference in (str(folder), f"{folder}:c")} == {"c"}


def test_a_name_that_no_file_can_have_is_that_of_a_row(store: Store) -> None:
    """The name of a row with long overrides has more letters than a file's may have."""
    long = replace(fakes.CONFIGURATION, overrides={"head": "my_head.py:Head," + "x" * 300})
    fill(store, "m", fakes.CONFIGURATION, long)
    (row,) = (one for one in from_store.read(store) if "x" * 300 in one.name)
    assert resolve(row.name, store.root) == row
    for reference in (f"{row.name}y", "z" * 5_000, f"{store.root}:{row.name}y"):
        with pytest.raises(UnknownName):
            resolve(reference, store.root)


def test_the_folder_of_a_store_is_told_from_the_store(made: Path) -> None:
    with pytest.raises(SettingsError, match=r"is a folder but no store; did you mean .*runs\?"):
        resolve(str(made), Path("other"))


AWKWARD = (
    "a",
    "a b",
    "a/b",
    "a-b",
    "A",
    "a quick",
    "a quick lr=0.001",
    "é",
    "a é",
    "org/b",
    "model",
    "_",
    "_/a",
    "%41",
)


def test_the_folder_of_a_trial_is_a_run_of_one_dataset_and_seed(made: Path) -> None:
    folder = next((made / "runs" / "a" / "gad").glob("*/"))
    record = find_trial(str(folder), Path("runs"))
    task, seed = record.trial.task, record.trial.seed
    assert find_trial(str(folder), Path("nowhere"), task, seed).trial == record.trial
    assert find_trial(str(folder), Path("runs"), task.upper()).trial == record.trial
    for other in ((None, seed + 1), (None, 0), ("hoc", None)):
        with pytest.raises(SettingsError, match=f"the trial is a run of {task} with seed {seed}"):
            find_trial(str(folder), Path("runs"), *other)


def test_a_name_means_the_row_that_it_means_among_all_rows(store: Store) -> None:
    """Oracle: `pick` among all rows, of names that begin with, or are spelt as, the beginning of others."""
    twice = (fakes.CONFIGURATION, replace(fakes.CONFIGURATION, precision="bf16"))
    for model in AWKWARD:
        with store.locked():
            store.claim(model)
        fill(store, model, *(twice if len(model) % 2 else twice[:1]))
    everything = from_store.read(store)
    assert {row.model for row in everything} == set(AWKWARD)
    for name in {*AWKWARD, *(row.name for row in everything), "a quic", "b"}:
        assert outcome(name, lambda name: resolve(name, store.root)) == outcome(
            name, lambda name: pick_row(everything, name, str(store.root))
        )


def outcome(name: str, find: Callable[[str], Row]) -> Row | str:
    """The row, or what is said instead."""
    try:
        return find(name)
    except (SettingsError, UnknownName) as error:
        return str(error)


def test_trials_of_other_rows_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    read_facts = index.read_facts

    def spied(store: Store, keys: Iterable[str], tell: Tell) -> object:
        asked.extend(keys := list(keys))
        return read_facts(store, keys, tell)

    monkeypatch.setattr(index, "read_facts", spied)
    assert named("org/b quick lr=0.001 bf16").run_counts == [2]
    assert {key.partition("/")[0] for key in asked} == {"org-b"}


def test_a_name_that_no_row_has_lists_each_row_once() -> None:
    """Of a model with several rows the model and their names, as both may be typed; of any other the model."""
    told = str(refused("wrong"))
    several = [row.name for row in from_store.read(Store(Path("runs"))) if row.model == "org/b"]
    assert told.endswith(f"Available: {', '.join(['a', 'org/b', *several])}.")
    assert len(several) == 2


def test_a_checkpoint_that_was_never_scored_is_told_apart_from_a_typing_error() -> None:
    Path("encoder").mkdir(exist_ok=True)
    (Path("encoder") / "config.json").write_text("{}", encoding="utf-8")
    told = "encoder is a folder, but no store and no row files (row.json); if it is a checkpoint"
    assert told in str(refused("encoder"))
    assert "is a folder" not in str(refused("wrong"))
    with pytest.raises(SettingsError, match=re.escape(told)):
        resolve("encoder", Path("nothing"))


def test_row_files_are_named_by_their_folder_or_by_the_file_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = Path(__file__).parents[2] / "docs" / "results" / "baselines" / "bigrams" / "row"
    by_folder, by_file = (
        resolve(str(path), Path("none")) for path in (folder, folder / "row.json")
    )
    assert (by_file.name, by_file.means()) == (by_folder.name, by_folder.means())


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two checkpoints of a run, the numbers of which sort otherwise as text, and one of another run."""
    folder = tmp_path_factory.mktemp("series")
    for model, score in (("mine@900", 0.5), ("mine@5000", 0.75), ("yours@10", 0.25)):
        fill(Store(folder / "runs"), model, score=score)
    return folder


@pytest.mark.parametrize("prefix", ["", "runs:"])
def test_a_run_means_its_checkpoints_and_one_row_of_it_the_last(
    series: Path, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(series)
    assert [row.model for row in resolve_all(f"{prefix}mine", Path("runs"))] == [
        "mine@900",
        "mine@5000",
    ]
    assert named(f"{prefix}mine").model == "mine@5000"
    assert named(f"{prefix}mine@900").model == "mine@900"
    assert "'mine'" not in str(refused(f"{prefix}mien@900"))


def test_a_source_means_its_published_rows_without_variants() -> None:
    assert {row.primary_key for row in resolve_all("published:gu2021", Path("runs"))} == {
        r.primary_key for r in published.shipped() if r.source == "gu2021"
    }
    assert [row.model for row in resolve_all("published:gu2021/PubMedBERT", Path("runs"))] == [
        "PubMedBERT"
    ]
    assert named("published:PubMedBERT half-time").source == "gu2021"
    assert "gu2021" in str(refused("published:gu2022"))


@pytest.mark.extensions
@pytest.mark.parametrize("reference", ["c", "other:c", "other", "other:c quick lr=0.001"])
def test_every_command_takes_the_same_names(reference: str) -> None:
    store = "other" if reference == "c" else "runs"
    lines = [["compare", reference, reference], ["export", "markdown", reference, "--tasks", "gad"]]
    if reference != "other":
        lines += [["runs", "show", reference], ["runs", "verify", reference]]
    for line in lines:
        done = run(*line, "--output", store)
        assert (done.exit_code, done.exception) == (0, None), (line, done.output)
    assert find_trial(reference, Path(store), "gad").path.parent.parent.name == "c"


@pytest.mark.extensions
def test_a_table_or_a_published_row_is_no_row_of_a_store() -> None:
    for reference in ("leaderboard.csv:a", "published:BioBERT"):
        done = run("runs", "show", reference)
        assert f"{reference} is no row of a store; name one of a store: ROW or FOLDER:ROW." in str(
            done.exception
        )
    done = ran(["export", "markdown", "a", "published:BioBERT", "--tasks", "gad"])
    assert "BioBERT" in done.output


@pytest.mark.parametrize("reference", ["mine", "runs", "runs:", "runs:mine"])
def test_a_row_is_deleted_or_renamed_by_its_own_name_alone(
    series: Path, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(series)
    before = sorted(series.rglob("*"))
    for line in (["rm", reference, "--yes"], ["rename", reference, "new"]):
        assert isinstance(run("runs", *line).exception, UnknownName)
    assert sorted(series.rglob("*")) == before
