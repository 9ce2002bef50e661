"""Bodies of answers: a perfect one counts in each form that is understood, and every other form is refused.

Oracle: the gold answers of the demo suite, so a score is 100, or the answer of one example is missing.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import blurb
from benchmarks.answers import perfect
from blurb import tasks
from blurb.corpora import demo
from blurb.scoring import decoding, requests
from tests.cli.in_process import blurb as command, done
from tests.scoring import filed, unscored

NAMES = ("ncbi-disease", "gad", "biosses")
Gold = dict[str, str]
Body = Callable[[str], Any]


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Gold:
    """The right answer to each request, as JSON."""
    folder = tmp_path_factory.mktemp("requests")
    requests.export(
        [tasks.get(name) for name in NAMES], demo.prepare(), folder, "test", None, 0, 1, 0, ""
    )
    return {
        key: json.dumps(answer, ensure_ascii=False)
        for key, answer in perfect(folder, demo.prepare())
    }


def line(key: str, body: Any, **more: Any) -> str:
    return json.dumps(
        {"custom_id": key, "response": {"status_code": 200, "body": body}, "error": None, **more}
    )


def chat(message: Any, reason: str = "stop") -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def said(text: Any, reason: str = "stop") -> dict[str, Any]:
    return chat({"role": "assistant", "content": text}, reason)


def responses(*items: Any, **more: Any) -> dict[str, Any]:
    return {"object": "response", "status": "completed", "output": [*items], **more}


def call(arguments: Any, name: str = "answer") -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def message(*parts: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [*parts]}


def score(path: Path, lines: list[str]) -> list[Any]:
    return list(blurb.score(None, filed(path, lines), suite="demo"))


DRAFT = 'The form is {"label": "..."} or {"mentions": [{"text": "a"}]}, {"score": 1}. '
UNDERSTOOD: dict[str, Body] = {
    "text": said,
    "parts": lambda text: said(
        [{"type": "text", "text": text[:5]}, {"type": "text", "text": text[5:]}]
    ),
    "parts of Mistral": lambda text: said(
        [
            {"type": "thinking", "thinking": [{"type": "text", "text": DRAFT}]},
            {"type": "text", "text": text},
        ]
    ),
    "thoughts apart": lambda text: chat({"content": text, "reasoning_content": DRAFT}),
    "a tool": lambda text: chat({"content": None, "tool_calls": [call(text)]}, "tool_calls"),
    "a tool, with words": lambda text: chat(
        {"content": DRAFT, "tool_calls": [call(text)]}, "tool_calls"
    ),
    "a function": lambda text: chat(
        {"content": "", "function_call": {"name": "answer", "arguments": text}}
    ),
    "completions": lambda text: {"choices": [{"text": text, "finish_reason": "stop"}]},
    "Ollama": lambda text: {
        "message": {"role": "assistant", "content": text, "thinking": DRAFT},
        "done": True,
    },
    "a tool of Ollama": lambda text: {
        "message": {"content": "", "tool_calls": [call(json.loads(text))]}
    },
    "responses": lambda text: responses(
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": DRAFT}]},
        message({"type": "output_text", "text": text, "annotations": []}),
        error=None,
        usage={"input_tokens": 3, "output_tokens": 4},
    ),
    "a tool of responses": lambda text: responses(
        {"type": "function_call", "name": "answer", "arguments": text}
    ),
    "an empty error": lambda text: {**said(text), "error": {"code": "", "message": None}},
}
MARKED = (
    "<think>{}</think>",
    "{}</think>",
    "<thinking>{}</thinking>",
    "[THINK]{}[/THINK]",
    "{}[/THINK]",
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    "analysis{}assistantfinal",
    "<|START_THINKING|>{}<|END_THINKING|>",
    "<seed:think>{}</seed:think>",
    "<think>{}</think>\n<think>once more: {}</think>",
    "{}\n\n",
)
"""How thoughts with a draft are marked; the last ones are not."""


@pytest.mark.parametrize("form", UNDERSTOOD)
def test_a_perfect_answer_counts_in_each_form(form: str, gold: Gold, tmp_path: Path) -> None:
    found = score(
        tmp_path / "a.jsonl", [line(key, UNDERSTOOD[form](text)) for key, text in gold.items()]
    )
    assert [(round(each.score, 6), dict(each.faults)) for each in found] == [(100.0, {})] * 3


@pytest.mark.parametrize("marks", MARKED)
def test_the_answer_stands_behind_the_thoughts(marks: str, gold: Gold, tmp_path: Path) -> None:
    lines = [line(key, said(marks.replace("{}", DRAFT) + text)) for key, text in gold.items()]
    found = score(tmp_path / "a.jsonl", lines)
    assert [round(each.score, 6) for each in found] == [100.0] * 3
    assert [{*each.faults} for each in found] == [{decoding.AROUND}] * 3


@pytest.mark.parametrize("marks", MARKED[:-1])
def test_thoughts_alone_are_no_answer(marks: str, gold: Gold, tmp_path: Path) -> None:
    key = next(key for key in gold if key.startswith("gad/"))
    lines = [
        line(each, said(marks.replace("{}", text) if each == key else text))
        for each, text in gold.items()
    ]
    assert [dict(each.faults) for each in score(tmp_path / "a.jsonl", lines)] == [
        {},
        {decoding.NO_ANSWER: 1},
        {},
    ]


NONE: dict[str, tuple[Any, str]] = {
    "null": (said(None), decoding.NO_ANSWER),
    "no text": (said([]), decoding.NO_ANSWER),
    "thoughts apart": (chat({"content": None, "reasoning_content": DRAFT}), decoding.NO_ANSWER),
    "thoughts as a part": (said([{"type": "thinking", "thinking": DRAFT}]), decoding.NO_ANSWER),
    "thoughts that do not end": (said(f"<think>{DRAFT}"), decoding.NO_ANSWER),
    "thoughts that were cut": (said(f"<think>{DRAFT}", "length"), decoding.CUT_OFF),
    "a draft that was cut": (
        said(DRAFT + '{"label": "associated"} is right? Let', "length"),
        decoding.CUT_OFF,
    ),
    "a draft that ends with JSON": (
        said(DRAFT + '{"label": "associated"}', "length"),
        decoding.CUT_OFF,
    ),
    "a draft that was cut, in capitals": (
        said(DRAFT + '{"label": "associated"} is right? Let', "MAX_TOKENS"),
        decoding.CUT_OFF,
    ),
    "responses that were cut": (
        responses(
            {"type": "reasoning"},
            status="incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        ),
        decoding.CUT_OFF,
    ),
    "responses without text": (responses({"type": "reasoning"}), decoding.NO_ANSWER),
    "no choice": ({"choices": []}, decoding.NO_ANSWER),
    "a filter": (said(None, "content_filter"), decoding.FILTERED),
    "a filter amid the text": (
        said('{"label": "associated"}', "content_filter"),
        decoding.FILTERED,
    ),
    "a refusal": (chat({"content": None, "refusal": "I cannot."}), decoding.REFUSED),
    "a refusal of responses": (
        responses(message({"type": "refusal", "refusal": "No."})),
        decoding.REFUSED,
    ),
}


@pytest.mark.parametrize("form", NONE)
def test_no_answer_is_counted_as_what_it_is(form: str, gold: Gold, tmp_path: Path) -> None:
    key = next(key for key, text in gold.items() if key.startswith("gad/") and "not" not in text)
    body, fault = NONE[form]
    lines = [line(each, body if each == key else said(text)) for each, text in gold.items()]
    found = score(tmp_path / "a.jsonl", lines)
    assert [dict(each.faults) for each in found] == [{}, {fault: 1}, {}]
    assert found[1].score < 100


def test_json_that_is_whole_at_the_maximum_of_tokens_is_an_answer(
    gold: Gold, tmp_path: Path
) -> None:
    lines = [line(key, said(f"```json\n{text}\n```\n\n\n", "length")) for key, text in gold.items()]
    assert [round(each.score, 6) for each in score(tmp_path / "a.jsonl", lines)] == [100.0] * 3


STRANGE: dict[str, tuple[Any, str]] = {
    "Anthropic": (
        {"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"},
        "an answer of Anthropic",
    ),
    "Gemini": ({"candidates": [{"content": {"parts": [{"text": "x"}]}}]}, "an answer of Gemini"),
    "a server of Hugging Face": ({"generated_text": "x"}, "an answer of text-generation-inference"),
    "HTML": ("<html>Please log in</html>", "a page of HTML"),
    "a text": ("x", "a str and no object"),
    "a list": ([said("x")], "a list and no object"),
    "nothing": ({}, "neither an answer nor an error"),
    "null": (None, "neither an answer nor an error"),
    "other keys": ({"answer": "x", "took": 1}, "an object with the keys answer, took"),
    "content of another type": (said({"text": "x"}), "/v1/chat/completions with an unknown part"),
    "a part of another type": (
        said([{"type": "image_url"}]),
        "/v1/chat/completions with an unknown part",
    ),
    "text that is an object": (
        said([{"type": "text", "text": {"value": "x"}}]),
        "with an unknown part",
    ),
    "another key of a message": (
        chat({"content": None, "parsed": {"label": "x"}}),
        "with an unknown part",
    ),
    "speech": (chat({"content": None, "audio": {"transcript": "x"}}), "with an unknown part"),
    "a message without anything": (chat({"role": "assistant"}), "with an unknown part"),
    "a stream": ({"choices": [{"delta": {"content": "x"}}]}, "with an unknown part"),
    "choices as an object": ({"choices": {"message": {"content": "x"}}}, "with an unknown part"),
    "another tool": (
        chat({"content": None, "tool_calls": [call("{}", "search")]}),
        "with an unknown part",
    ),
    "another tool beside a text": (
        chat({"content": "I will give the label.", "tool_calls": [call("{}", "search")]}),
        "with an unknown part",
    ),
    "another tool beside the answer": (
        chat({"content": None, "tool_calls": [call("{}"), call("{}", "search")]}),
        "with an unknown part",
    ),
    "several choices": (
        {"choices": [{"message": {"content": "x"}}, {"message": {"content": "y"}}]},
        "with an unknown part",
    ),
    "an error of a choice": (
        {"choices": [{"error": {"code": 502}, "message": {"content": ""}}]},
        "with an unknown part",
    ),
    "a message of the user": (chat({"role": "user", "content": "x"}), "with an unknown part"),
    **{
        f"an end by {reason}": (said("x", reason), "with an unknown part")
        for reason in ("error", "abort", "insufficient_system_resource", 7)
    },
    "responses that are not whole": (
        responses(message({"type": "output_text", "text": "x"}), status="incomplete"),
        "an answer of /v1/responses with an unknown part",
    ),
    "Ollama before its end": (
        {"message": {"role": "assistant", "content": "x"}, "done": False},
        "an answer of Ollama with an unknown part",
    ),
    "Ollama while it loads": (
        {"message": {"role": "assistant", "content": "x"}, "done": True, "done_reason": "load"},
        "an answer of Ollama with an unknown part",
    ),
    "two answers by tools": (
        chat({"content": None, "tool_calls": [call("{}"), call("{}")]}),
        "with an unknown part",
    ),
    "responses not ended": (
        responses(status="queued"),
        "an answer of /v1/responses with an unknown part",
    ),
    "another item": (
        responses({"type": "web_search_call"}),
        "an answer of /v1/responses with an unknown part",
    ),
    "Ollama without text": (
        {"message": "x", "done": True},
        "an answer of Ollama with an unknown part",
    ),
}


@pytest.mark.parametrize("form", STRANGE)
def test_what_is_not_understood_refuses_the_file(form: str, gold: Gold, tmp_path: Path) -> None:
    body, look = STRANGE[form]
    lines = [
        line(key, body if place in (1, 3, 4, 7) else said(text))
        for place, (key, text) in enumerate(gold.items())
    ]
    filed(tmp_path / "a.jsonl", lines)
    code, out, err = command(
        ["score", "--suite", "demo", "--predictions", "a.jsonl", "--add", "m"], tmp_path
    )
    told = " ".join(err.split())
    assert (code, out) == (2, "")
    assert (
        "a.jsonl:2: this is no answer of a batch service that blurb understands: it looks like "
        in told
    )
    assert f"{look}. In all" in told
    assert "4 lines cannot be understood, the first: a.jsonl:2, a.jsonl:4, a.jsonl:5; " in told
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize(
    ("rest", "look"),
    [
        ({"response": None, "error": None}, "neither an answer nor an error"),
        ({"response": {}}, "neither an answer nor an error"),
        ({}, "a request or a line of another service"),
        (
            {"result": {"type": "succeeded", "message": {}}},
            "a request or a line of another service",
        ),
        ({"method": "POST", "body": {"messages": []}}, "give the file with the answers"),
    ],
)
def test_neither_response_nor_error_is_not_understood(
    rest: dict[str, Any], look: str, gold: Gold, tmp_path: Path
) -> None:
    lines = [json.dumps({"custom_id": key, **rest}) for key in gold]
    unscored(
        None,
        filed(tmp_path / "a.jsonl", lines),
        f"it looks like .*{look}.* In all, {len(gold)} lines",
    )


ERRORS = [
    {"response": {"status_code": 500, "body": "<html>Bad gateway</html>"}},
    {"response": {"status_code": 429, "body": {}}},
    {"response": {"status_code": 202, "body": said("x")}},
    {"response": {"status_code": 200, "body": {"error": {"message": "too long"}}}},
    {"error": {"code": "", "message": "x"}, "response": {"status_code": 200, "body": said("x")}},
    {"error": "expired"},
]


@pytest.mark.parametrize("wrong", ERRORS)
def test_an_error_is_asked_again_and_never_scored(
    wrong: dict[str, Any], gold: Gold, tmp_path: Path
) -> None:
    good = {key: line(key, said(text)) for key, text in gold.items()}
    key = next(iter(good))
    failed = json.dumps({"custom_id": key, "response": None, "error": None, **wrong})
    unscored(
        None,
        filed(
            tmp_path / "a.jsonl", [failed, *(text for each, text in good.items() if each != key)]
        ),
        "send this request again",
    )
    assert [
        round(each.score, 6) for each in score(tmp_path / "a.jsonl", [failed, *good.values()])
    ] == [100.0] * 3


@pytest.mark.parametrize("status", [200, "200", 201, None])
def test_status_codes_of_answers(status: object, gold: Gold, tmp_path: Path) -> None:
    answered = [{"status_code": status, "body": said(text)} for text in gold.values()]
    lines = [
        json.dumps({"custom_id": key, "response": each})
        for key, each in zip(gold, answered, strict=True)
    ]
    assert [round(each.score, 6) for each in score(tmp_path / "a.jsonl", lines)] == [100.0] * 3


def test_answers_in_several_files(gold: Gold, tmp_path: Path) -> None:
    lines = [line(key, said(text)) for key, text in gold.items()]
    files = [filed(tmp_path / f"{name}.jsonl", lines[place::2]) for place, name in enumerate("ab")]
    typed = [
        "score",
        "--suite",
        "demo",
        "--predictions",
        "a.jsonl",
        "--predictions",
        "b.jsonl",
        "--format",
        "csv",
    ]
    assert [row.split(",")[3] for row in done(typed, tmp_path).splitlines()[1:]] == ["100"] * 3
    assert [each.score for each in blurb.score(None, files, suite="demo")] == [
        each.score for each in score(tmp_path / "all.jsonl", lines)
    ]
    unscored(None, [files[0], files[1], tmp_path / "." / "a.jsonl"], "this file is given twice")
    unscored(None, [*files, filed(tmp_path / "notes.txt", "x")], "no answers of a batch service")


def test_files_of_several_datasets(tmp_path: Path) -> None:
    for name in ("gad", "hoc"):
        assert (
            command(["data", "export", "--suite", "demo", "--tasks", name, "--out", "o"], tmp_path)[
                0
            ]
            == 0
        )
        (tmp_path / "o" / name / "test.jsonl").rename(tmp_path / f"{name}.jsonl")
    files = [tmp_path / "gad.jsonl", tmp_path / "hoc.jsonl"]
    assert [each.task.name for each in blurb.score(None, files, suite="demo")] == ["gad", "hoc"]
    unscored("gad", files, "several files are given, and task= is for one file")
    files[0].rename(tmp_path / "mine.jsonl")
    unscored(None, [tmp_path / "mine.jsonl", files[1]], "not named after a dataset")


def test_requests_without_a_line_are_no_row(gold: Gold, tmp_path: Path) -> None:
    """They can be asked again; their score without a row is printed with the share."""
    lines = [line(key, said(text)) for key, text in gold.items()]
    store = tmp_path / "runs"
    for kept in (lines[:-3], [*lines[:-3], line([*gold][-1], said(None))]):
        score(tmp_path / "a.jsonl", kept)
        unscored(
            None,
            tmp_path / "a.jsonl",
            r"(3|2) of 200 requests of biosses have no line; ask them again",
            add="m",
            output=store,
        )
    assert not store.exists()
    found = score(tmp_path / "a.jsonl", lines[:-3])
    assert "2% of the answers could not be read" in found[2].remarks
    assert not any("could not be read" in remark for remark in found[0].remarks)


@pytest.mark.parametrize(
    ("lost", "told", "ranked"), [(1, False, True), (4, True, True), (160, True, False)]
)
def test_a_row_that_is_mostly_unanswered_says_so(
    lost: int, told: bool, ranked: bool, gold: Gold, tmp_path: Path
) -> None:
    ours = {key: text for key, text in gold.items() if key.startswith("gad/")}
    lines = [
        line(key, said(None if place < lost else text))
        for place, (key, text) in enumerate(ours.items())
    ]
    share = f"{lost / len(lines):.0%} of the answers could not be read"
    filed(tmp_path / "a.jsonl", lines)
    assert (
        command(["score", "--suite", "demo", "--predictions", "a.jsonl", "--add", "m"], tmp_path)[0]
        == 0
    )
    for shown in (["--sort", "gad"], ["--sort", "gad", "--format", "json"], ["--datasets"]):
        out = done(["leaderboard", "show", *shown], tmp_path)
        assert (share in " ".join(out.split())) == told, shown
    row = json.loads(
        command(["leaderboard", "show", "--sort", "gad", "--format", "json"], tmp_path)[1]
    )[0]
    assert (row["best_rank"] is not None) == ranked
    assert (
        command(["run", "baseline:majority", "--suite", "demo", "--tasks", "gad"], tmp_path)[0] == 0
    )
    assert (share in (tmp_path / "runs" / "leaderboard.csv").read_text()) == told
    # Answers that are given again take the place of these.
    lines = [line(key, said(text)) for key, text in [*ours.items()][:-1]] + [
        line([*ours][-1], said("?"))
    ]
    filed(tmp_path / "a.jsonl", lines)
    assert (
        command(["score", "--suite", "demo", "--predictions", "a.jsonl", "--add", "m"], tmp_path)[0]
        == 0
    )
    assert share not in command(["leaderboard", "show", "--sort", "gad"], tmp_path)[1]
