"""Which rows share a ranking. The oracle is the rule of docs/leaderboard.md, "Comparability"."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from blurb import tasks
from blurb.cli import cli
from blurb.leaderboard import ranking
from blurb.learners import protocol_learner
from blurb.protocols import protocol
from blurb.protocols.settings import DEFAULTS, Settings, in_groups
from blurb.results import comparison, from_store, groups, published, results_csv
from blurb.results.row import Row
from blurb.results.tables import rebuild
from blurb.row_files.references import file_rows
from blurb.store.store import Store
from tests.cli.in_process import ran
from tests.conftest import ROOT
from tests.results import invented, played
from tests.results.played import CONFIGURATION, play
from tests.results.test_comparison import USES, known_row

RESULTS = ROOT / "docs" / "results"
SHARED = {
    "alike",
    "other weights",
    "another tokenizer",
    "another precision",
    "another name of one protocol",
    "fewer training examples",
}
HIDDEN = {
    "an unknown protocol",
    "an unknown recipe",
    "data that is not known",
    "the release by its verdict",
    "metrics that are not known",
}


def ranks(*rows: Row, column: str = "gad") -> dict[str, tuple[str, str]]:
    """Name -> rank and the rows that it is ranked among."""
    on_test = [ranking.entry(one, resampled=False) for one in rows]
    return {one.entry.name: (one.rank, one.part) for one in ranking.in_parts(on_test, column)}


def named(one: Row, name: str) -> Row:
    """On test, under a name."""
    gad = one.datasets["gad"]
    runs = {
        seed: replace(run, figures={"test": run.figures["dev"]}) for seed, run in gad.runs.items()
    }
    return replace(one, label=name, datasets={"gad": replace(gad, runs=runs)})


@pytest.mark.parametrize(
    ("words", "other"), [one[:2] for one in USES], ids=[one[0] for one in USES]
)
def test_who_is_ranked_beside_a_row(words: str, other: Row) -> None:
    """Rows that a check refuses are never ranked together; what is unknown has no rank."""
    found = ranks(named(known_row(), "one"), named(other, "two"))
    first, second = (found[name][0].removeprefix("probe ") for name in ("one", "two"))
    if words in HIDDEN:
        assert (first, second) == ("1", "")
    else:
        assert (first, second) == (("1-2", "1-2") if words in SHARED else ("1", "1"))
        assert (found["one"][1] == found["two"][1]) == (words in SHARED)


@pytest.mark.parametrize("name", protocol.protocol_names())
def test_each_protocol_has_its_place(name: str) -> None:
    made = protocol.load_protocol_file(name)
    one = named(
        known_row(
            protocol=made.name, protocol_hash=made.hash, learner=protocol_learner.kind_of(made).name
        ),
        "mine",
    )
    paper = next(each for each in published.shipped() if "gad" in each.means())
    found = ranks(one, paper)
    assert (found["mine"][1] == found[paper.name][1]) == (name in ("standard", "paper", "linkbert"))
    assert (found["mine"][0] == "") == (name in ("sketch", "smoke"))
    changed = invented.named(one, configuration=replace(one.configuration, overrides={"lr": 0.1}))
    assert ranks(changed, paper)["mine"][1] != ""  # not at its defaults


def test_a_user_s_file_is_no_protocol_of_a_paper() -> None:
    one = named(known_row(protocol="standard@0123abcd"), "mine")
    assert ranks(one)["mine"][1] == "standard@0123abcd"
    sketch = named(known_row(protocol="sketch@0123abcd"), "mine")
    assert ranks(sketch)["mine"] == ("1", "sketch@0123abcd")


def test_sketch_has_no_rank_whatever_its_sets_and_the_paper_s_rows_stay_apart(
    tmp_path: Path,
) -> None:
    """The command of the audit, which ranked four protocols from 1 to 18."""
    arguments = [
        "leaderboard",
        "show",
        "--output",
        str(tmp_path),
        "--sort",
        "ncbi-disease",
        "--results",
        str(RESULTS / "protocol-study" / "results.csv"),
    ]
    result = CliRunner().invoke(
        cli, [*arguments, "--format", "json", "--no-intervals"], catch_exceptions=False
    )
    lines = [line for line in json.loads(result.output) if line["ncbi-disease"] is not None]
    of: dict[str, set[int]] = {}
    for line in lines:
        if line["best_rank"] is not None:
            of.setdefault(line["group"], set()).add(line["best_rank"])
    assert {group: len(places) for group, places in of.items() if group} == {
        "quick@2": 6,
        "standard-short": 6,
        "probes": 5,  # two probes are equal
    }
    assert all(line["published"] for line in lines if line["group"] == "")
    assert {line["best_rank"] for line in lines if "sketch" in line["row"]} == {None}
    shown = CliRunner().invoke(cli, [*arguments, "--no-intervals"], catch_exceptions=False).output
    assert re.search(
        "whole sketch[^:]*: not ranked: rows of sketch have no rank", " ".join(shown.split())
    )
    assert "Published rows: other code, data of theirs." in shown


def test_rows_that_are_ranked_apart_have_headings_of_their_own() -> None:
    """Each is first of a table of its own, and the heading says in what it differs."""
    parts = {
        "one": {},
        "capped": {"max_eval": "64", "eval_seed": "1"},
        "drawn": {"max_eval": "64", "eval_seed": "2"},
        "metrics": {"metrics_version": "2"},
        "code": {"plugins": "head=0123456789ab"},
    }
    rows = [named(known_row(**facts), name) for name, facts in parts.items()]
    headings = {name: heading for name, (_, heading) in ranks(rows[0], *rows).items()}
    plain = headings.pop("one")
    assert headings == {
        "capped": f"{plain}, another part of the examples 1",
        "drawn": f"{plain}, another part of the examples 2",
        "metrics": f"{plain}, another version of the metrics",
        "code": f"{plain}, other plug-ins",
    }


def test_the_name_of_a_protocol_of_papers_is_no_place_among_them() -> None:
    paper = protocol.load_protocol_file("paper")
    assert (
        ranks(named(known_row(protocol="paper", protocol_hash=paper.hash), "mine"))["mine"][1] == ""
    )
    smoke = known_row(protocol="paper", protocol_hash=protocol.load_protocol_file("smoke").hash)
    capped = known_row(protocol="paper", protocol_hash=paper.hash, max_eval="64", eval_seed="1")
    shortened = known_row(protocol="paper", protocol_hash=paper.hash, max_train="100")
    assert {ranks(named(other, "mine"))["mine"][1] for other in (smoke, capped, shortened)} == {
        "paper"
    }


def test_other_data_is_said_and_ranked_apart(here: Path) -> None:
    """GAD with its labels turned round stood as one of "1-3" among rows on the real one, without a word."""
    store = Store(here / "runs")
    standard = replace(
        played.CONFIGURATION,
        protocol="standard",
        protocol_hash=protocol.load_protocol_file("standard").hash,
    )
    for name in ("a", "b"):
        played.play(store, name, {"gad": 0.8, "hoc": 0.8}, configuration=standard)
    played.play(store, "turned", {"gad": 0.9}, configuration=standard, data="e")
    result = CliRunner().invoke(cli, ["leaderboard", "show", "--sort", "gad", "--format", "json"])
    lines = {line["row"]: line for line in json.loads(result.output)}
    assert lines["turned standard"]["group"] == "protocols of papers, other data"
    assert (lines["turned standard"]["best_rank"], lines["a standard"]["group"]) == (1, "")
    path = min((store.root / "turned" / "gad").glob("*/provenance.json"))
    for path in (store.root / "turned" / "gad").glob("*/provenance.json"):
        path.write_text(path.read_text().replace('"identical"', '"counts only"'))
        store.seal(path.parent)
    assert "turned standard: data not verified: gad counts only." in " ".join(
        CliRunner().invoke(cli, ["leaderboard", "show", "--sort", "gad"]).output.split()
    )


def whole(**verdicts: str) -> Row:
    """All thirteen datasets; of the release but for those that are named."""
    found = invented.row("m", {task.name: (80.0, 81.0) for task in tasks.all() if task.paper_order})
    datasets = {
        name: replace(
            one,
            runs={
                seed: replace(run, verdict=verdicts.get(name.replace("-", "_"), run.verdict))
                for seed, run in one.runs.items()
            },
        )
        for name, one in found.datasets.items()
    }
    return replace(found, datasets=datasets)


def test_a_row_on_two_states_of_the_data_has_no_means_of_both() -> None:
    assert whole().score == pytest.approx(80.5)
    turned = whole(gad="counts only")
    assert (turned.score, turned.blurb_12) == (None, None)
    assert set(turned.type_means()) == {"ner", "pico", "similarity", "document", "qa"}
    assert "two states of the data" in turned.doubts
    assert not {"score", "blurb-12", "relation"} & set(
        ranking.entry(turned, resampled=False).values
    )
    # One state, another
    other = whole(**{name.replace("-", "_"): "differs" for name in whole().datasets})
    assert other.score == pytest.approx(80.5)
    for name in ("ebm_pico", "bioasq"):  # nobody knows hashes of all their splits
        assert whole(**{name: "differs"}).score == pytest.approx(80.5)


def test_the_committed_rows_have_the_means_that_they_had() -> None:
    rows = results_csv.read(RESULTS / "minilm" / "quick" / "results.csv")
    assert next(one.blurb_12 for one in rows if one.learner == "encoder") == pytest.approx(
        69.95, abs=0.005
    )


def test_a_row_with_fewer_seeds_than_planned_has_no_rank() -> None:
    one = named(known_row(), "one")
    short = replace(one, datasets={"gad": replace(one.datasets["gad"], planned=5)}, label="short")
    found = ranks(one, short)
    assert (found["one"][0], found["short"][0]) == ("1", "")
    assert groups.standing(short).unranked("gad") == "3 of 5 seeds of gad"


@pytest.mark.extensions
@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_bold_is_within_a_protocol_and_the_caption_says_so(form: str, here: Path) -> None:
    store = Store(here / "runs")
    quick = played.CONFIGURATION
    sketch = replace(quick, protocol="sketch", protocol_hash="2" * 64)
    for name, share, made in (
        ("a", 0.5, quick),
        ("b", 0.6, quick),
        ("c", 0.9, sketch),
        ("d", 0.95, sketch),
    ):
        played.play(store, name, {"gad": share}, configuration=made)
    text = (
        CliRunner().invoke(cli, ["export", form, "--tasks", "gad"], catch_exceptions=False).output
    )
    (line,) = (one for one in text.splitlines() if one.startswith(("| GAD", "GAD")))
    cells = [cell for cell in re.split(r"[|&]", line) if cell.strip()][1:]
    assert [bool(re.search(r"\*\*|textbf", cell)) for cell in cells] == [False, True, False, False]
    assert "the best of each dataset is bold, among models of one protocol and kind" in text


def test_a_changed_default_is_a_new_version_of_every_protocol() -> None:
    """What a shipped protocol makes of its file and of the defaults; whoever changes one raises `version`."""
    table = json.loads((Path(__file__).parent / "protocols.json").read_text())
    assert resolved() == table


def _said(settings: Settings) -> list[tuple[str, Any]]:
    """The settings but for the newest at their defaults, which came later and change no trial then."""
    later = {name: DEFAULTS[name] for name in ("word_borders", *in_groups("large models"))}
    return sorted(
        (name, value) for name, value in vars(settings).items() if later.get(name) != value
    )


def resolved() -> dict[str, str]:
    """Name with version -> hash of the settings of all tasks for three sizes of encoders, and of seeds and search."""
    found = {}
    for name in protocol.protocol_names():
        made = protocol.load_protocol_file(name)
        parts = [
            [task.name, parameters, _said(made.settings(task, {}, parameters)), made.seeds(task)]
            for task in tasks.all()
            if task.paper_order
            for parameters in (10**7, 10**8, 10**9)
        ]
        text = json.dumps(
            [parts, made.grid({}), protocol_learner.kind_of(made).name], sort_keys=True, default=str
        )
        found[made.name] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return found


# Rows that were scored on a part of the units: shown, with their note, and never the best of anything.


CAPPED = {"head": "linear", "pooling": "cls", "max_train": 64, "max_eval": 64}
NOTE = "at most 64 training examples; at most 64 dev and test examples"


@pytest.fixture
def folder(here: Path) -> Path:
    """A row of 64 units that is better than any, and a whole one."""
    store = Store(here / "runs")
    play(
        store,
        "tiny",
        {"gad": 1.0},
        configuration=replace(CONFIGURATION, protocol="smoke"),
        settings=CAPPED,
    )
    play(store, "whole", {"gad": 0.5}, configuration=replace(CONFIGURATION, protocol="standard"))
    rebuild(store, here / "leaderboard.csv")
    return here


def test_it_is_never_ranked(folder: Path) -> None:
    entries = [
        ranking.entry(each, resampled=False) for each in from_store.read(Store(folder / "runs"))
    ]
    ranks = {one.entry.name.split()[0]: one.rank for one in ranking.in_parts(entries, "gad")}
    assert ranks == {"whole": "1", "tiny": ""}
    result = CliRunner().invoke(cli, ["leaderboard", "show", "--no-intervals", "--sort", "gad"])
    assert f"tiny smoke: not ranked: rows of smoke have no rank; {NOTE}." in result.output


@pytest.mark.extensions
@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_it_is_never_bold_and_says_why(form: str, folder: Path) -> None:
    result = CliRunner().invoke(
        cli, ["export", form, "--published", "gu2021"], catch_exceptions=False
    )
    assert "100.00" in result.output or "99." in result.output
    for bold in ("**100.00**", "**99.", r"\textbf{100.00}", r"\textbf{99."):
        assert bold not in result.output
    assert NOTE in result.output


@pytest.mark.extensions
@pytest.mark.parametrize("form", ["model-index", "eval-results"])
def test_a_card_carries_the_note(form: str, folder: Path) -> None:
    out = folder / "out"
    ran(["export", form, "tiny", "--out", str(out)])
    assert NOTE in " ".join((out if out.is_file() else out / "blurb.yaml").read_text().split())


def test_it_is_compared_with_no_whole_row(folder: Path) -> None:
    sides = {each.model: each for each in from_store.read(Store(folder / "runs"))}
    files = {each.model: each for each in file_rows(folder / "results.csv")}
    for tiny, whole in ((sides["tiny"], sides["whole"]), (files["tiny"], sides["whole"])):
        assert (
            next(
                one
                for one in comparison.compare_rows(whole, tiny, "test", with_units=False)
                if one.name == "gad"
            ).reason
            == "different examples were scored: all in one row, at most 64 in the other"
        )
    result = CliRunner().invoke(
        cli, ["check", "tiny", "--baseline", "whole", "--split", "test", "--format", "json"]
    )
    assert result.exit_code == 2
    assert "different examples" in json.dumps(json.loads(result.stdout))
