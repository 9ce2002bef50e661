"""Shorthands of settings, the same trials as with `--set`; tables of models, and what is wrong with one."""

import dataclasses
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from transformers import BertModel

import blurb
from blurb.cli._made import WithSettings, click_command
from blurb.messages.errors import BlurbError, SettingsError
from blurb.options import option, option_parameters
from blurb.planning import trials
from blurb.planning.options import (
    LIMITED,
    SHORTHANDS,
    AblateOptions,
    NamedModel,
    RunOptions,
    read_models,
)
from blurb.planning.request import make_request
from blurb.protocols.settings import FIELDS
from blurb.store import row_trials
from blurb.store.store import Store
from tests.cli.in_process import ran
from tests.conftest import Builder

RUN = [
    "run",
    "scratch:tiny",
    "--suite",
    "demo",
    "--protocol",
    "smoke",
    "--tasks",
    "gad",
    "--precision",
    "fp32",
]
ABLATE = [
    "ablate",
    "scratch:tiny",
    "--axis",
    "tagging",
    "--suite",
    "demo",
    "--protocol",
    "smoke",
    "--tasks",
    "bc2gm",
]


def listed(command: list[str], *given: str) -> list[str]:
    """The trials of a dry run, by name and hash."""
    result = ran([*command, *given, "--device", "cpu", "--dry-run"])
    return [line for line in result.output.splitlines() if line.startswith((" run", "run"))]


def test_shorthands_are_settings() -> None:
    assert {*SHORTHANDS, *LIMITED} <= set(FIELDS)


@pytest.mark.costly
@pytest.mark.parametrize("command", [RUN, ABLATE], ids=["run", "ablate"])
def test_a_shorthand_is_the_setting(command: list[str]) -> None:
    short = listed(command, "--lr", "3e-5", "--batch-size", "8", "--epochs", "2", "--limit", "20")
    keys = ("lr=3e-5", "batch_size=8", "epochs=2", "max_train=20", "max_eval=20")
    assert short == listed(command, *(word for key in keys for word in ("--set", key)))
    assert short
    assert short != listed(command)


def test_a_limit_is_for_train_dev_and_test_and_such_a_row_has_no_rank(tmp_path: Path) -> None:
    made = blurb.run(
        "baseline:majority",
        "gad",
        suite="demo",
        protocol="smoke",
        limit=20,
        output=tmp_path,
        progress=False,
    )
    (row,) = made.rows
    assert row.name == "baseline:majority smoke max_eval=20 max_train=20 demo"
    assert row.capped
    assert made.predictions("baseline:majority", "gad")["split"].value_counts().to_dict() == {
        "dev": 20,
        "test": 20,
    }
    (record,) = row.records_of("gad").values()
    assert record.provenance.train_units == 20


def test_a_setting_is_given_once() -> None:
    for given in ({"lr": 0.1}, {"max_eval": 3}):
        options = AblateOptions(model="m", axis="head", lr=0.2, limit=4, settings=given)
        with pytest.raises(SettingsError, match=r"given twice, by --(lr|limit) and by --set"):
            _ = options.overrides
    assert RunOptions(model="m", lr=0.2, dummy_tokens=True, settings={"warmup": 0}).overrides == {
        "warmup": 0,
        "lr": 0.2,
        "relation_input": "dummy-tokens",
    }


def test_the_signature_is_the_list() -> None:
    """Names, order, types and defaults; the order of a command line is the same."""
    _, *taken, progress, settings = inspect.signature(blurb.run).parameters.values()
    fields = {field.name: field for field in dataclasses.fields(RunOptions)}
    listed = {name: fields[name] for name in option_parameters(RunOptions) if name != "settings"}
    expected = {"tasks": listed.pop("tasks"), **listed}
    assert [parameter.name for parameter in taken] == list(expected)
    for parameter in taken:
        field = expected[parameter.name]
        assert (parameter.annotation, parameter.default) == (field.type, field.default), (
            parameter.name
        )
    assert (progress.name, progress.default, settings.kind) == (
        "progress",
        True,
        inspect.Parameter.VAR_KEYWORD,
    )


def test_an_option_is_two_files(tmp_path: Path) -> None:
    """A field is all that a command, its help and its docs need; the other file is the signature, held above."""

    @dataclass(frozen=True, kw_only=True)
    class More(RunOptions):
        patience: int = option(7, "Trials", "Epochs to wait.", low=1, page="cost.md")
        notes: Path | str | None = option(None, "Model", "A file of notes.", path="file")
        verbose: bool = option(False, "Trials", "Say more.")
        words: Sequence[str] = option((), "Model", "Words; repeatable.", choices=("a", "b"))

    @click_command("more", More, but=("rules",), cls=WithSettings)
    def command(**given: object) -> None:
        found = More(model="m", **given)  # type: ignore[arg-type]
        click.echo(
            f"{found.patience} {found.notes!r} {found.verbose} {found.words} {found.output!r} {found.settings}"
        )

    def run(*words: str) -> str:
        return CliRunner().invoke(command, words).output

    assert run() == "7 None False () PosixPath('runs') {}\n"
    typed = (
        "--patience",
        "2",
        "--notes",
        "n",
        "--verbose",
        "--words",
        "a",
        "--words",
        "b",
        "--set",
        "lr=1",
    )
    assert run(*typed) == "2 PosixPath('n') True ('a', 'b') PosixPath('runs') {'lr': '1'}\n"
    assert "it must be at least 1 (got 0)" in run("--patience", "0")
    assert "is a directory" in run("--notes", str(tmp_path))
    assert "No such option" in run("--rules", "x")
    shown = run("--help")
    assert re.search(
        r"^Trials:(\n  .*)*--patience WHOLE NUMBER +Epochs to wait. +\[default: 7; at least 1\]",
        shown,
        re.MULTILINE,
    )
    assert shown.index("Tasks and data:") < shown.index("Protocol:") < shown.index("Other:")


def test_what_trials_have_of_options_is_in_the_request(tmp_path: Path) -> None:
    given = {
        "suite": "demo",
        "seeds": 2,
        "device": "cpu",
        "keep_model": "best",
        "resume_trials": True,
    }
    options = RunOptions(
        model="scratch:tiny",
        tasks="gad",
        protocol="smoke",
        precision="fp32",
        output=tmp_path,
        **given,
    )  # type: ignore[arg-type]
    request, engine, rules = make_request(options)
    assert (
        request.of_trials
        == {
            **given,
            "track": None,
            "checkpointing": "auto",
            "jobs": None,
            "dry_run": False,
            "progress": True,
        }
        == options.of_trials
    )
    assert (engine.hands_over, rules) == (False, None)
    (job, _) = trials.prepare(request).final
    assert (job.device, job.keep, job.resume, job.track) == ("cpu", "best", True, "")


def _table(folder: Path, text: str) -> Path:
    file = folder / "models.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_table_has_names_and_tags_and_folders_beside_it(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    file = _table(tmp_path, "model,name,tags\none,first,base seed-1\norg/model,,\n")
    assert read_models(file) == [
        NamedModel(str(tmp_path / "one"), "first", ("base", "seed-1")),
        NamedModel("org/model"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"models\.csv:1: needs the columns model"),
        ("path,name\nx,y\n", r":1: needs the columns"),
        ('model,tags\nx,"a,b"\n', r":2: tags are separated by blanks, and have no commas"),
        ("model,tags\nx,a,b\n", ":2: expected 2 cells"),
        ("model,name\n,y\n", ":2: names no model"),
        ("model\n", "names no model"),
        ("model,name\rx,y\r", "invalid CSV"),
        ("model\n" + "x" * 200_000 + "\n", "invalid CSV"),
    ],
)
def test_a_wrong_table_says_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BlurbError, match=said):
        read_models(_table(tmp_path, text))


def test_all_wrong_lines_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match=r"(?s)csv:2: tags.*csv:3: names"):
        read_models(_table(tmp_path, 'model,tags\nx,"a,b"\n,c\n'))


def test_options_have_the_models_of_both(tmp_path: Path) -> None:
    file = _table(tmp_path, "model,name\nbaseline:majority,common\n")
    options = RunOptions(model=("baseline:mean",), models_file=file)
    assert options.named_models == [
        NamedModel("baseline:mean"),
        NamedModel("baseline:majority", "common"),
    ]


def test_tags_are_of_the_row_and_of_no_identity(tmp_path: Path) -> None:
    store = tmp_path / "runs"
    model = NamedModel("baseline:majority", "common", ("base", "first"))
    tagged = blurb.run(model, "gad", suite="demo", output=store, progress=False)
    assert (tagged.rows[0].tags, tagged.rows[0].model) == (("base", "first"), "common")
    again = blurb.run(
        "baseline:majority", "gad", name="common", suite="demo", output=store, progress=False
    )
    assert [row.key for row in again.rows] == [row.key for row in tagged.rows]
    assert again.rows[0].tags == ("base", "first")  # kept by a run that names none
    (row,) = row_trials.read(Store(store))
    assert row.tags == ("base", "first")
    changed = blurb.run(NamedModel("baseline:majority", "common", ("other",)), "gad", suite="demo", output=store,
                        progress=False)  # fmt: skip
    assert changed.rows[0].tags == ("other",)


def test_no_model_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match=r"There is no model to run; name a MODEL"):
        blurb.run([], "gad", suite="demo", output=tmp_path / "runs", progress=False)


# `--checkpointing on` is refused before anything is written where it cannot be, and is nothing to a baseline.


def _asked(store: Path, model: str) -> list[str]:
    options = RunOptions(
        model=model,
        suite="demo",
        tasks="gad",
        protocol="smoke",
        output=store,
        device="cpu",
        checkpointing="on",
    )
    return [job.checkpointing for job in trials.prepare(make_request(options)[0]).final]


def test_it_is_refused_before_anything_is_written(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = str(checkpoint("bert_uncased"))
    assert _asked(tmp_path / "runs", model) == ["on"]
    monkeypatch.setattr(BertModel, "supports_gradient_checkpointing", False)
    with pytest.raises(BlurbError, match=r"--checkpointing on: bert_uncased does not support it"):
        _asked(tmp_path / "runs", model)
    assert not (tmp_path / "runs").exists()


def test_a_baseline_has_no_use_for_it(tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match="--checkpointing has no effect on a baseline"):
        _asked(tmp_path / "runs", "baseline:bilstm")
