"""A run as a file. Oracle: the same options given by hand."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import blurb
from blurb.messages.errors import BlurbError
from blurb.planning import trials
from blurb.planning.options import RunOptions
from blurb.planning.request import make_request
from blurb.planning.run_file import with_file, write
from tests.cli.in_process import blurb as command

RUN = {"suite": "demo", "protocol": "smoke", "precision": "fp32", "device": "cpu"}
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
)
OPTIONS = st.fixed_dictionaries(
    {"model": st.lists(TEXTS, min_size=1, max_size=3).map(tuple) | TEXTS},
    optional={
        "tasks": TEXTS | st.lists(TEXTS, min_size=1, max_size=3),
        "output": TEXTS.map(Path),
        "seeds": st.integers(1, 10_000),
        "jobs": st.integers(1, 4_096),
        "lr": st.floats(0, 1e3),
        "limit": st.integers(1, 10**12),
        "head": TEXTS.filter(lambda text: ":" not in text),
        "across": st.lists(st.sampled_from(["protocol", "unknown"])).map(tuple),
        "casing": st.sampled_from(["cased", "uncased"]),
        "settings": st.fixed_dictionaries(
            {},
            optional={
                "warmup": st.floats(0, 100),
                "tagging": st.just("bioul"),
                "epochs": st.integers(1, 99),
            },
        ),
    },
)


def read(folder: Path, text: str, **typed: Any) -> RunOptions:
    (folder / "run.toml").write_text(text, encoding="utf-8")
    return RunOptions(**{**with_file({"config": folder / "run.toml", **typed}), "config": None})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPTIONS)
def test_what_is_written_is_read_back(tmp_path: Path, options: dict[str, Any]) -> None:
    asked = RunOptions(**options)
    found = vars(read(tmp_path, write(asked)))
    assert {**found, "model": 0, "tasks": 0} == {**vars(asked), "model": 0, "tasks": 0}
    assert [list(found[name] or ()) for name in ("model", "tasks")] == [
        list(vars(asked)[name] or ()) for name in ("model", "tasks")
    ]


@pytest.mark.parametrize("key", ["model", "tasks", "output", "protocol", "data", "rules", "name"])
@pytest.mark.parametrize("value", ['""', "[]"])
def test_a_key_with_nothing_is_an_error(key: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match=f"run.toml: {key} must be "):
        read(tmp_path, f"{key} = {value}\n")


def hashes(options: RunOptions) -> list[str]:
    return [job.trial.hash for job in trials.prepare(make_request(options)[0]).jobs]


@pytest.mark.parametrize(
    "more",
    [
        {"model": "baseline:bilstm", "tasks": "gad,hoc", "seeds": 2, "limit": 20},
        {
            "model": ("scratch:tiny", "baseline:bigrams"),
            "tasks": ["bc2gm"],
            "head": "crf",
            "settings": {"warmup": "0"},
        },
    ],
)
def test_the_trials_of_a_file_are_those_of_its_options(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    asked = RunOptions(**{**RUN, **more}, output=tmp_path / "runs")
    assert hashes(read(tmp_path, write(asked))) == hashes(asked) != []


def test_what_is_typed_wins(tmp_path: Path) -> None:
    text = 'model = "a"\nlr = 0.1\nhead = "crf"\nlimit = 5\n[set]\nepochs = 3\nwarmup = 0\nbeta1 = 0.5\n'
    found = read(tmp_path, text, model="b", epochs=2, settings={"lr": "0.5", "warmup": "9"})
    expected = {
        "lr": "0.5",
        "warmup": "9",
        "epochs": 2,
        "head": "crf",
        "max_train": 5,
        "max_eval": 5,
        "beta1": 0.5,
    }
    assert (found.model, found.overrides) == ("b", expected)
    assert read(tmp_path, "[set]\nmax_eval = 7\n", limit=5).overrides == {
        "max_train": 5,
        "max_eval": 5,
    }
    assert (
        "relation_input"
        in read(tmp_path, 'set.relation_input = "markers"\n', dummy_tokens=True).overrides
    )


def test_from_python_and_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    words = shlex.split(
        "run baseline:bilstm --suite demo --tasks gad --protocol smoke --set epochs=2"
    )
    code, out, _ = command([*words, "--dry-run", "--format", "toml"], tmp_path)
    assert (code, out) == (
        0,
        'model = ["baseline:bilstm"]\nsuite = "demo"\ntasks = "gad"\nprotocol = "smoke"\n\n[set]\nepochs = 2\n',
    )
    file.write_text(out)
    code, out, _ = command(["run", "--config", "run.toml", "--dry-run", "--tasks", "hoc"], tmp_path)
    assert (code, "hoc" in out, "gad" in out) == (0, True, False)
    (row,) = blurb.run(config=file, output=tmp_path / "runs", progress=False).rows
    assert row.model == "baseline:bilstm"
    assert command(["run", "--config", "run.toml", "--format", "toml"], tmp_path)[0] == 2
    with pytest.raises(BlurbError, match="no such file"):
        blurb.run(config=tmp_path / "none.toml")
