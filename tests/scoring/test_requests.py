"""Requests to language models. Oracles: a perfect model scores 100, JSON Schema, the rules of the shots."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import blurb
from benchmarks.answers import line, perfect
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.messages import DataError
from blurb.messages.errors import BlurbError
from blurb.scoring import prompts, requests
from blurb.scoring.requests import DIGITS, MANIFEST, Manifest, known
from tests.cli.in_process import done, refused as refused_by_command

TASKS = [task for task in tasks.all() if task.paper_order]
NAMES = [task.name for task in TASKS]


def export(out: Path, *more: str) -> str:
    return done(
        ["data", "export", "--suite", "demo", "--format", "batch", "--out", str(out), *more],
        out.parent,
    )


def written(out: Path, task: str) -> list[dict[str, Any]]:
    return [
        json.loads(each)
        for each in (out / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def gold_file(asked: Path, path: Path, data: Path) -> Path:
    lines = [
        line(key, json.dumps(answer, ensure_ascii=False)) for key, answer in perfect(asked, data)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Requests of all datasets with five shots."""
    folder = tmp_path_factory.mktemp("asked") / "requests"
    export(folder, "--shots", "5", "--model", "m")
    return folder


@pytest.mark.parametrize("shots", [0, 1, 5])
def test_gold_answers_score_a_hundred(shots: int, tmp_path: Path) -> None:
    export(tmp_path / "requests", "--shots", str(shots))
    scores = blurb.score(
        None,
        gold_file(tmp_path / "requests", tmp_path / "answers.jsonl", demo.prepare()),
        suite="demo",
    )
    assert [each.task.name for each in scores] == NAMES
    assert {round(each.score, 9) for each in scores} == {100.0}
    assert not any(each.faults for each in scores)


@pytest.mark.real
def test_gold_answers_to_the_real_files(real_data: Path, tmp_path: Path) -> None:
    """99.86 at least for tags, where an earlier place of a name may have no tag; 100 for all others."""
    chosen = [task for task in TASKS if (real_data / task.files["test"]).exists()]
    requests.export(chosen, real_data, tmp_path / "asked", "test", None, 0, 1, 0, "")
    assert len(chosen) == 12
    path = gold_file(tmp_path / "asked", tmp_path / "answers.jsonl", real_data)
    for each in blurb.score(None, path, real_data):
        assert round(each.score, 9) >= (99.86 if "tokens" in each.task.task_type.columns else 100.0)


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_requests_are_whole(task: tasks.Task, asked: Path) -> None:
    rows, lines = read_split(task, demo.prepare(), "test"), written(asked, task.name)
    manifest = requests.Manifest(
        **json.loads((asked / requests.MANIFEST).read_text())["requests"][task.name]
    )
    assert [each["custom_id"] for each in lines] == [
        f"{task.name}/{row['id']}/{manifest.digits}" for row in rows
    ]
    assert {(each["method"], each["url"], each["body"]["model"]) for each in lines} == {
        ("POST", "/v1/chat/completions", "m")
    }
    assert {each["body"]["temperature"] for each in lines} == {0}
    for row, each in zip(rows, lines, strict=True):
        body = each["body"]
        shape = body["response_format"]["json_schema"]
        assert (shape["strict"], body["response_format"]["type"]) == (True, "json_schema")
        jsonschema.validate(requests.gold_answer(task, row, manifest.names), shape["schema"])
        assert [turn["role"] for turn in body["messages"]] == [
            "system",
            *["user", "assistant"] * 5,
            "user",
        ]
        for shot in body["messages"][2:-1:2]:
            jsonschema.validate(json.loads(shot["content"]), shape["schema"])
        for text in (
            (" ".join(row["tokens"]),)
            if "tokens" in row
            else [row[name] for name in prompts.TEXTS if name in row]
        ):
            assert text in body["messages"][-1]["content"]
        for name in manifest.names:
            assert f"- {name}" in body["messages"][0]["content"]
    said = [turn["content"] for each in lines for turn in each["body"]["messages"]]
    assert (manifest.requests, manifest.words) == (
        len(rows),
        sum(len(text.split()) for text in said),
    )
    assert manifest.tokens >= sum(len(text.encode()) for text in said)


def drawn(task: str, count: int, seed: int = 1) -> list[dict[str, Any]]:
    chosen = tasks.get(task)
    return requests.shots_of(chosen, read_split(chosen, demo.prepare(), "train"), count, seed)


def test_shots_take_the_labels_in_turn(asked: Path) -> None:
    counted = Counter(
        row["label"] for row in read_split(tasks.get("chemprot"), demo.prepare(), "train")
    )
    usual = sorted(counted, key=lambda label: (-counted[label], label))
    assert [row["label"] for row in drawn("chemprot", 8)] == [*usual, *usual][:8]
    assert {round(row["score"]) for row in drawn("biosses", 5)} == {0, 1, 2, 3, 4}
    labels = [row["labels"] for row in drawn("hoc", 11)]
    assert len({label for each in labels for label in each}) == 10
    assert [] in labels


@pytest.mark.parametrize("task", ["jnlpba", "ebm-pico"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_shots_of_tags_have_both(task: str, count: int) -> None:
    with_mention = [set(row["tags"]) != {"O"} for row in drawn(task, count)]
    assert with_mention == [place % 2 == 0 for place in range(count)]


def test_shots_depend_on_the_seed_alone() -> None:
    first, again, other = (drawn("gad", 4, seed) for seed in (1, 1, 2))
    assert first == again
    assert [row["id"] for row in first] != [row["id"] for row in other]
    assert first == drawn("gad", 5)[:4]


def test_a_limit_draws_the_examples_that_settings_draw(tmp_path: Path) -> None:
    export(tmp_path / "a", "--tasks", "gad", "--limit", "9", "--seed", "1")
    export(tmp_path / "b", "--tasks", "gad", "--limit", "9", "--seed", "2", "--shots", "1")
    ids = [
        [each["custom_id"].split("/")[1] for each in written(tmp_path / name, "gad")]
        for name in "ab"
    ]
    assert len(ids[0]) == 9
    assert ids[0] == ids[1]


PROMPT = 'type = "relation"\nuser = "{labels} {text}"\n'


def refused(folder: Path, text: str, *more: str) -> str:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    asked = [
        "data",
        "export",
        "--suite",
        "demo",
        "--format",
        "batch",
        "--out",
        "requests",
        "--prompts",
        "mine.toml",
    ]
    err = refused_by_command([*asked, "--tasks", "gad", *more], folder)
    assert [path.name for path in folder.iterdir()] == ["mine.toml"]
    return " ".join(err.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PROMPT.replace("{text}", "{txt} {text}"), "there is no {txt} here"),
        (PROMPT.replace("{labels} ", ""), "{labels} is missing"),
        (PROMPT.replace("{text}", ""), "{text} is missing"),
        (PROMPT + 'system = "{text}"', "there is no {text} here"),
        (PROMPT + "[request]\nmodel = 'x'", "without messages, model, response_format, stream, n"),
        (PROMPT + "[request]\nmax_tokens = 'many'", "with a positive max_tokens"),
        (PROMPT + "[request]\nstop = 1979-05-27", "be what JSON can hold"),
        (PROMPT + "[labels.gadd]\n1 = { name = 'x' }", "There is no dataset called 'gadd'"),
        (PROMPT.replace("{text}", "{te-xt} {text}"), "there is no {te-xt} here"),
        (PROMPT + "[labels.gad]\n2 = { name = 'x' }", "There is no label of gad called '2'"),
        (
            PROMPT + "[labels.gad]\n0 = { name = 'x' }\n1 = { name = 'x' }",
            "two labels of gad have the same name",
        ),
        (PROMPT.replace("relation", "ner"), "these prompts are for the type ner, not for relation"),
        (PROMPT.replace("relation", "nre"), "There is no task type called 'nre'"),
        (PROMPT + "more = 1", "There is no key called 'more'"),
        (PROMPT + "[labels.gad]\n0 = { nam = 'x' }", "There is no key called 'nam'"),
        ("user = 3", "user must be a text"),
        ("[", "invalid TOML"),
    ],
)
def test_prompts_that_are_none(text: str, said: str, tmp_path: Path) -> None:
    err = refused(tmp_path, text)
    assert said in err
    assert "mine.toml" in err


def test_too_many_shots_are_refused(tmp_path: Path) -> None:
    err = refused(tmp_path, PROMPT, "--shots", "100000")
    assert "train of gad has" in err
    assert "--shots" in err


def hashes(texts: Sequence[str], folder: Path) -> list[str]:
    found = []
    for text in texts:
        path = folder / f"{len(list(folder.iterdir()))}.toml"
        path.write_text(text)
        found.append(prompts.load(path, tasks.get("gad")).hash)
    return found


def test_other_words_are_other_prompts(tmp_path: Path) -> None:
    assert (
        len(
            {
                *hashes(
                    [PROMPT, PROMPT + "[request]\ntemperature = 1", PROMPT.replace("} {", "}: {")],
                    tmp_path,
                )
            }
        )
        == 3
    )


def test_shipped_prompts_are_for_every_type() -> None:
    for kind in tasks.types.names():
        if kind != "classification":
            assert (
                prompts.load(None, next(task for task in TASKS if task.type == kind)).type == kind
            )
    assert (prompts.FOLDER / "classification.toml").exists()


def test_an_unknown_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match="no such file"):
        prompts.load(tmp_path / "absent.toml", TASKS[0])


# `manifest.json` of requests, as whoever sends answers may have written it: read by fields, or refused by its name.


GOOD = Manifest(
    "gad", "test", "e" * 64, 0, "prompts", "p" * 64, 2, 1, ["a", "b"], {"yes": "1"}, 3, 40, 50, 60
)


def _written(folder: Path, content: Any) -> str:
    """Writes a manifest with the digits that fit it, whatever it has."""
    (folder / MANIFEST).write_text(
        json.dumps({"schema": 1, "requests": {"gad": content}}), encoding="utf-8"
    )
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:DIGITS]


def test_what_was_exported_is_found(tmp_path: Path) -> None:
    digits = _written(tmp_path, asdict(GOOD))
    assert digits == GOOD.digits
    assert known(digits, tmp_path) == GOOD
    assert known("00000000", tmp_path) is None


VALUES: dict[str, tuple[Any, ...]] = {
    "int": ("x", -1, True, 1.5, None, [1], {"a": 1}, 10**400),
    "str": (5, True, None, ["a"], {"a": 1}),
    "ScoredSplit": ("train", "x", 5, None),
    "Sequence[str]": (5, None, [1], [None]),
    "Mapping[str, str]": (5, None, "x", ["a"], {"a": 1}),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(one.name, value) for one in fields(Manifest) for value in VALUES[str(one.type)]],
)
def test_a_value_that_a_field_cannot_have_is_told_with_the_file(
    tmp_path: Path, name: str, value: Any
) -> None:
    digits = _written(tmp_path, {**asdict(GOOD), name: value})
    with pytest.raises(DataError, match=rf"{MANIFEST}: is no manifest of requests \(.*"):
        known(digits, tmp_path)


@pytest.mark.parametrize("content", [5, None, [], "x", {}, {**asdict(GOOD), "more": 1}])
def test_an_entry_that_is_none_is_told(tmp_path: Path, content: Any) -> None:
    digits = _written(tmp_path, content)
    with pytest.raises(DataError, match="is no manifest of requests"):
        known(digits, tmp_path)


def test_absent_and_unreadable_are_two_things(tmp_path: Path) -> None:
    assert known("00000000", tmp_path) is None
    (tmp_path / MANIFEST).write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{MANIFEST}: is no manifest of requests"):
        known("00000000", tmp_path)
    (tmp_path / MANIFEST).write_text('{"files": {}}', encoding="utf-8")  # of something else
    assert known("00000000", tmp_path) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [("{", "is no manifest of requests"), ("[]", "is no manifest"), ('{"icons": []}', "replaced")],
)
def test_a_manifest_that_cannot_be_read_is_not_replaced(
    content: str, said: str, tmp_path: Path
) -> None:
    """Its requests of other datasets were lost."""
    (tmp_path / MANIFEST).write_text(content, encoding="utf-8")
    command = "data export --suite demo --format batch --tasks gad --out"
    assert said in refused_by_command([*command.split(), str(tmp_path)], tmp_path)
    assert {each.name: each.read_text(encoding="utf-8") for each in tmp_path.iterdir()} == {
        MANIFEST: content
    }
