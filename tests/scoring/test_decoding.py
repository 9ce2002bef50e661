"""Broken answers of language models: each is counted as what it is, and scored by the rule of its type."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import blurb
from benchmarks.answers import line, perfect
from blurb import formulations, tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.inputs import tagging
from blurb.inputs.tagging import Span
from blurb.learners import PROMPTED
from blurb.results import from_store
from blurb.row_files.references import row_of
from blurb.scoring import answer_forms, batch, decoding, requests
from blurb.scoring.answer_forms import MISSING, OVERLAPPING, UNORDERED, SearchedWords, of_tags
from blurb.store.store import Store
from tests.cli.in_process import blurb as command, refused
from tests.scoring import filed, unscored

USED = ("ncbi-disease", "gad", "chemprot", "pubmedqa", "hoc", "biosses")
Gold = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Gold]:
    """Requests on the demo suite, and the right answer to each."""
    folder = tmp_path_factory.mktemp("requests")
    chosen = [tasks.get(name) for name in USED]
    requests.export(chosen, demo.prepare(), folder, "test", None, 0, 1, 0, "")
    return folder, dict(perfect(folder, demo.prepare()))


def of(gold: Gold, task: str) -> Gold:
    return {key: answer for key, answer in gold.items() if key.startswith(f"{task}/")}


def score(path: Path, lines: list[str], **more: Any) -> Any:
    return blurb.score(None, filed(path, lines), suite="demo", **more)[0]


def right(key: str, answer: dict[str, Any]) -> str:
    return line(key, json.dumps(answer, ensure_ascii=False))


KINDS: dict[str, list[Callable[[str, dict[str, Any]], list[str]]]] = {
    answer_forms.MISSING: [
        lambda key, gold, text=text: [right(key, {"mentions": [{"text": text, "type": "Disease"}]})]
        for text in ("nowhere to be found", "", "ZZZ", "the\u200bdisease", "\n")
    ],
    decoding.NO_JSON: [
        lambda key, gold, text=text: [line(key, text)]
        for text in (
            "I cannot say.",
            "{",
            '{"mentions": [',
            "[]",
            '{"mentions": [{"text": "a", "type": "Disease"}',
        )
    ],
    decoding.SCHEMA: [
        lambda key, gold, said=said: [right(key, said)]
        for said in (
            {"label": "x"},
            {"mentions": "a"},
            {"mentions": [{"text": "a", "type": "Gene"}]},
            {"mentions": [{"text": "a"}]},
            {"mentions": [], "more": 1},
        )
    ],
    decoding.AROUND: [
        lambda key, gold, form=form: [line(key, form.format(json.dumps(gold, ensure_ascii=False)))]
        for form in (
            "```json\n{}\n```",
            "Here: {}",
            "{} Done.",
            "<think>{{a}} or b</think>{}",
            "**{}**",
        )
    ],
    decoding.CUT_OFF: [
        lambda key, gold, text=text: [line(key, text, finish_reason="length")]
        for text in (
            '{"mentions": [{"te',
            "",
            "<think>it may be",
            "  ",
            '{"mentions": [{"text": "a", "type"',
        )
    ],
    decoding.NO_ANSWER: [
        lambda key, gold: [],
        lambda key, gold: [line(key, None)],
        lambda key, gold: [line(key, "")],
        lambda key, gold: [line(key, " \n")],
        lambda key, gold: [json.dumps({"custom_id": key, "response": {"body": {"choices": []}}})],
    ],
    decoding.TWO_ANSWERS: [
        lambda key, gold, other=other: [right(key, gold), line(key, other)]
        for other in (
            "no",
            "",
            '{"mentions": []}',
            None,
            '{"mentions": [{"text": "a", "type": "Disease"}]}',
        )
    ],
}


@pytest.mark.parametrize("way", range(5))
@pytest.mark.parametrize("fault", KINDS)
def test_a_broken_answer_is_counted_once(
    fault: str, way: int, gold: tuple[Path, Gold], tmp_path: Path
) -> None:
    folder, right_ones = gold
    wanted = of(right_ones, "ncbi-disease")
    broken = next(key for key, answer in wanted.items() if len(answer["mentions"]) == 1)
    lines = [right(key, answer) for key, answer in wanted.items() if key != broken]
    (tmp_path / "manifest.json").write_bytes((folder / "manifest.json").read_bytes())
    found = score(tmp_path / "a.jsonl", [*lines, *KINDS[fault][way](broken, wanted[broken])])
    assert dict(found.faults) == {fault: 1}
    assert (found.score == 100) == (fault in (decoding.AROUND, decoding.TWO_ANSWERS))
    assert found.score > 95


@pytest.mark.parametrize("way", range(5))
@pytest.mark.parametrize("fault", [answer_forms.UNORDERED, answer_forms.OVERLAPPING])
def test_mentions_at_odd_places(
    fault: str, way: int, gold: tuple[Path, Gold], tmp_path: Path
) -> None:
    wanted = of(gold[1], "ncbi-disease")
    several = [
        key
        for key, answer in wanted.items()
        if len({each["text"] for each in answer["mentions"]}) > 1
    ]
    key, lines = several[way], {key: right(key, answer) for key, answer in wanted.items()}
    mentions = wanted[key]["mentions"]
    backwards = sorted(mentions, key=lambda each: each["text"] != mentions[-1]["text"])
    said = backwards if fault == answer_forms.UNORDERED else [*mentions, mentions[-1]]
    lines[key] = right(key, {"mentions": said})
    found = score(tmp_path / "a.jsonl", [*lines.values()])
    assert set(found.faults) == {fault}
    assert found.score > 99


@pytest.mark.parametrize("task", USED)
def test_what_cannot_be_read_is_empty_or_wrong(
    task: str, gold: tuple[Path, Gold], tmp_path: Path
) -> None:
    """The class that the metric leaves out gets no credit; a label, or a number, is wrong."""
    declared = tasks.get(task)
    rows = formulations.bind(declared).units(read_split(declared, demo.prepare(), "test"))
    found = score(tmp_path / "a.jsonl", [line(key, "?") for key in of(gold[1], task)])
    assert dict(found.faults) == {decoding.NO_JSON: len(rows)}
    assert found.score <= 0
    for row in rows:
        empty = answer_forms.of(declared).unreadable(declared, row)
        if task == "pubmedqa":
            assert empty in declared.labels
            assert empty != row["label"]
        if task == "biosses":
            assert abs(empty - row["score"]) >= 2


@pytest.mark.parametrize(
    ("task", "text", "read"),
    [
        ("pubmedqa", "yes", "yes"),
        ("pubmedqa", '{"label": "maybe"}', "maybe"),
        ("gad", "associated", "1"),
        ("gad", "not associated", "0"),
        ("chemprot", '{"label": "downregulator"}', "CPR:4"),
        ("biosses", "2.5", 2.5),
        ("biosses", '{"score": "1"}', 1.0),
        ("biosses", '{"score": 5}', None),
        ("biosses", '{"score": true}', None),
        ("biosses", '{"score": NaN}', None),
        ("biosses", '{"score": 1e999}', None),
        ("pubmedqa", '{"label": "Yes"}', None),
        ("pubmedqa", '{"label": ["yes"]}', None),
        ("pubmedqa", '{"label": "yes", "label": "no"}', None),
        ("pubmedqa", "yes or no", None),
        ("hoc", '{"labels": []}', []),
        ("hoc", '{"labels": [1]}', None),
        ("hoc", "{" * 5000, None),
        ("hoc", '{"labels":' + "[" * 5000, None),
    ],
)
def test_labels_and_numbers(task: str, text: str, read: object, gold: tuple[Path, Gold]) -> None:
    declared, manifest = tasks.get(task), manifest_of(gold[0], task)
    unit = read_split(declared, demo.prepare(), "test")[0]
    faults = decoding.Counter[str]()
    reply = batch.Reply(batch.FileLine(Path("a"), 1), text, False)
    found = decoding.read(declared, manifest, unit, reply, faults)
    if read is None:
        assert found is None
        assert sum(faults.values()) == 1
    else:
        assert (found, +faults) == (read, {})


def manifest_of(folder: Path, task: str) -> requests.Manifest:
    return requests.Manifest(**json.loads((folder / "manifest.json").read_text())["requests"][task])


def test_any_order_and_several_files(gold: tuple[Path, Gold], tmp_path: Path) -> None:
    lines = [right(key, answer) for key, answer in reversed(gold[1].items())]
    for place in range(3):
        filed(tmp_path / f"part-{place}.jsonl", lines[place::3])
    (tmp_path / "asked.jsonl").write_bytes((gold[0] / "gad.jsonl").read_bytes())
    scores = blurb.score(None, tmp_path, suite="demo")
    assert {each.task.name for each in scores} == {*USED}
    assert {round(each.score, 9) for each in scores} == {100.0}


def test_an_error_is_made_good_by_an_answer(gold: tuple[Path, Gold], tmp_path: Path) -> None:
    wanted = of(gold[1], "gad")
    failed = json.dumps({"custom_id": next(iter(wanted)), "response": None, "error": {"code": 429}})
    assert (
        score(tmp_path / "a.jsonl", [failed, *(right(*each) for each in wanted.items())]).score
        == 100
    )


def told(folder: Path, lines: list[str] | bytes, *more: str) -> str:
    """The message; nothing but the file is in the folder afterwards."""
    content = lines if isinstance(lines, bytes) else "".join(f"{each}\n" for each in lines).encode()
    (folder / "a.jsonl").write_bytes(content)
    err = refused(
        ["score", "--suite", "demo", "--predictions", "a.jsonl", "--add", "m", *more], folder
    )
    assert [path.name for path in folder.iterdir()] == ["a.jsonl"]
    return " ".join(err.split())


def bad(gold: Gold) -> list[tuple[str, list[str] | bytes, tuple[str, ...], str]]:
    wanted = of(gold, "gad")
    key, good = next(iter(wanted)), [right(*each) for each in wanted.items()]
    digits = key[-8:]
    error = {
        "custom_id": key,
        "response": {"status_code": 400, "body": {"error": {"message": "too long"}}},
    }
    return [
        (
            "other digits",
            [right(f"{key[:-8]}00000000", {}), *good],
            (),
            "a.jsonl:1: no known request",
        ),
        (
            "another dataset",
            [*good, right(f"hoc/x/{digits}", {})],
            (),
            "a.jsonl:535: no known request",
        ),
        (
            "no such example",
            [right(f"gad/x/{digits}", {}), *good[1:]],
            (),
            "a.jsonl:1: there is no example 'x'",
        ),
        (
            "another task",
            good,
            ("--task", "hoc"),
            "a.jsonl:1: this is an answer on gad, which is not scored",
        ),
        ("another split", good, ("--split", "dev"), "--split test"),
        ("cut", "\n".join(good).encode()[:-20], (), "not valid JSON"),
        ("an error", [*good[1:], json.dumps(error)], (), "the server answered with an error"),
        (
            "a request",
            [*good[1:], json.dumps({"custom_id": key, "body": {}})],
            (),
            "give the file with the answers",
        ),
        (
            "no body",
            [*good[1:], json.dumps({"custom_id": key, "response": 3})],
            (),
            "this is no answer of a batch",
        ),
        (
            "no choices",
            [*good[1:], json.dumps({"custom_id": key, "response": {"body": {"choices": 3}}})],
            (),
            "no answer",
        ),
        (
            "two models",
            [*good[1:], line(key, "x", model="b")],
            (),
            "an answer of b, after those of perfect",
        ),
        (
            "not UTF-8",
            b"".join(each.encode() + b"\n" for each in good) + b'{"custom_id": "\xff"}\n',
            (),
            "not UTF-8",
        ),
    ]


NAMES = [name for name, *_ in bad({"gad/test.0/00000000": {}})]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_answer_is_refused(name: str, gold: tuple[Path, Gold], tmp_path: Path) -> None:
    _, lines, more, said = next(each for each in bad(gold[1]) if each[0] == name)
    asked = () if "--split" in more else more
    if "--split" in more:
        unscored(
            None,
            filed(tmp_path / "a.jsonl", lines),  # type: ignore[arg-type]
            "this is an answer on test, not on dev",
            split="dev",
        )
        return
    said = said.replace("535", str(len(of(gold[1], "gad")) + 1))
    assert said in told(tmp_path, lines, *asked)


@pytest.mark.costly
def test_ten_million_lines_are_refused_soon(gold: tuple[Path, Gold], tmp_path: Path) -> None:
    first = right(*next(iter(of(gold[1], "gad").items()))).encode() + b"\n"
    with (tmp_path / "a.jsonl").open("wb") as file:
        file.write(first)
        for _ in range(1000):
            file.write(b'{"custom_id": "gad/none/00000000"}\n' * 10_000)
    unscored(None, tmp_path / "a.jsonl", r"a\.jsonl:2: no known request")


def test_two_seeds_of_shots_are_two_runs_of_a_row(gold: tuple[Path, Gold], tmp_path: Path) -> None:
    data, store = demo.prepare(), tmp_path / "runs"
    for seed in (1, 2):
        folder = tmp_path / f"asked-{seed}"
        requests.export(
            [tasks.get("gad"), tasks.get("biosses")], data, folder, "test", None, 2, seed, 0, ""
        )
        lines = [right(key, answer) for key, answer in perfect(folder, data)]
        wrong = next(place for place, each in enumerate(lines) if "not associated" in each)
        lines[wrong] = line(json.loads(lines[wrong])["custom_id"], '{"label": "associated"} or so')
        lines[-1] = line(json.loads(lines[-1])["custom_id"], '{"score": 9}')
        lines = [each.replace('"perfect"', '"/home/me/models/Qwen3"') for each in lines]
        score(tmp_path / "a.jsonl", lines, add="qwen", output=store)
    row = row_of("qwen", output=store)
    assert row.learner == PROMPTED.rows.name
    assert {name: row.seeds(name) for name in row.datasets} == {"gad": (1, 2), "biosses": (1, 2)}
    assert row.configuration.overrides == {"shots": 2}
    facts = row.records["gad"][2].provenance.facts
    assert (facts["server_model"], facts["faults"], facts["shots_seed"]) == (
        "Qwen3",
        {"text_around": 1},
        2,
    )
    assert (len(facts["shots"]), facts["tokens_in"]) == (2, len(of(gold[1], "gad")))


def test_other_prompts_or_shots_are_another_row(gold: tuple[Path, Gold], tmp_path: Path) -> None:
    data, store = demo.prepare(), tmp_path / "runs"
    other = tmp_path / "mine.toml"
    other.write_text('type = "relation"\nuser = "{labels} {text}"\n')
    for prompts, shots, limit in ((None, 0, 0), (None, 1, 0), (other, 0, 0), (None, 0, 20)):
        folder = tmp_path / "asked"
        requests.export([tasks.get("gad")], data, folder, "test", prompts, shots, 1, limit, "")
        lines = [right(key, answer) for key, answer in perfect(folder, data)]
        wrong = next(
            place for place, each in enumerate(lines) if "not associated" in each or '"0' in each
        )
        lines[wrong] = lines[wrong].replace("not associated", "associated").replace('"0', '"1')
        score(tmp_path / "a.jsonl", lines, add="m", output=store)
    rows = from_store.read(Store(store))
    assert len({(row.configuration.text, row.tokenizer) for row in rows}) == 4
    assert sorted(row.limits("max_eval")["gad"] for row in rows) == [0, 0, 0, 20]


def test_answers_to_two_sets_of_requests_are_not_mixed(
    gold: tuple[Path, Gold], tmp_path: Path
) -> None:
    data, folder = demo.prepare(), tmp_path / "asked"
    requests.export([tasks.get("gad")], data, folder, "test", None, 1, 1, 0, "")
    lines = [right(*each) for each in of(gold[1], "gad").items()] + [
        right(*each) for each in perfect(folder, data)
    ]
    unscored(None, filed(tmp_path / "a.jsonl", lines), "these answer other requests of gad")


MENTIONS = [
    lambda texts: [{"text": text, "type": "Disease"} for text in texts],
    lambda texts: [{"text": text} for text in texts],
    lambda texts: list(texts),
]


@pytest.mark.parametrize("form", MENTIONS)
def test_mentions_of_any_tool(form: Callable[[list[str]], object], tmp_path: Path) -> None:
    rows = read_split(tasks.get("ncbi-disease"), demo.prepare(), "test")
    gold = [
        requests.gold_answer(tasks.get("ncbi-disease"), row, {"Disease": "Disease"})["mentions"]
        for row in rows
    ]
    lines = [
        {"id": row["id"], "mentions": form([each["text"] for each in said])}
        for row, said in zip(rows, gold, strict=True)
    ]
    lines[0]["mentions"] = [{"text": "nowhere"}]
    path = filed(tmp_path / "a.jsonl", map(json.dumps, lines))
    (found,) = blurb.score("ncbi-disease", path, suite="demo", add="tool", output=tmp_path / "runs")
    assert (found.matched, dict(found.faults)) == ("by id", {"not_in_text": 1})
    assert 95 < found.score <= 100
    row = row_of("tool", output=tmp_path / "runs")
    assert (row.learner, row.records["ncbi-disease"][1].provenance.facts["faults"]) == (
        "external",
        {"not_in_text": 1},
    )


@pytest.mark.parametrize(
    "wrong", [3, "x", [3], [{"text": 3}], [{"type": "Disease"}], [{"text": "a", "type": "Gene"}]]
)
def test_what_are_no_mentions(wrong: object, tmp_path: Path) -> None:
    lines = [
        {"id": row["id"], "mentions": []}
        for row in read_split(tasks.get("ncbi-disease"), demo.prepare(), "test")
    ]
    lines[2]["mentions"] = wrong  # type: ignore[assignment]
    unscored(
        "ncbi-disease",
        filed(tmp_path / "a.jsonl", map(json.dumps, lines)),
        r"a\.jsonl:3: .*(mentions|label of)",
    )


def test_a_folder_names_what_it_leaves_out(
    gold: tuple[Path, Gold], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filed(tmp_path / "gad.jsonl", [right(*each) for each in of(gold[1], "gad").items()])
    (tmp_path / "ncbi-disease.conll").write_text("a\tO\n")
    (tmp_path / "hoc.jsonl").write_text('{"id": "x", "label": "y"}\n')
    code, out, err = command(["score", "--suite", "demo", "--predictions", str(tmp_path)], tmp_path)
    assert code == 0
    assert "gad" in out
    assert (
        "left out, as they are no answers of a batch service: hoc.jsonl, ncbi-disease.conll"
        in " ".join(err.split())
    )


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        (b'{"custom_id": "gad/te\n', "a.jsonl:1: not valid JSON"),
        (
            b'{"custom_id": "x", "response": ' + b"[" * 100_000 + b"\n",
            "a.jsonl:1: not usable as JSON",
        ),
        (b'{"custom_id": "x", "response": 1, "response": 2}\n', "key 'response' occurs twice"),
        (b"\x1f\x8b\x08", "this is a gzip archive"),
    ],
)
def test_a_broken_first_line_has_a_place(
    begin: bytes, said: str, gold: tuple[Path, Gold], tmp_path: Path
) -> None:
    lines = [right(*each) for each in of(gold[1], "gad").items()]
    assert said in told(tmp_path, begin + "\n".join(lines).encode())


def test_half_an_emoji_at_the_end_is_the_model_s_fault(
    gold: tuple[Path, Gold], tmp_path: Path
) -> None:
    wanted = of(gold[1], "gad")
    lines = [right(*each) for each in wanted.items()]
    lines[0] = (
        line(next(iter(wanted)), "so\ud83d", finish_reason="length")
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "surrogatepass")
    )
    lines[0] = json.dumps(json.loads(lines[0]))
    assert dict(score(tmp_path / "a.jsonl", lines).faults) == {"cut_off": 1}


def test_one_row_has_one_model_and_one_seed(gold: tuple[Path, Gold], tmp_path: Path) -> None:
    data, store = demo.prepare(), tmp_path / "runs"
    lines = []
    for name, seed in (("gad", 1), ("hoc", 2)):
        requests.export([tasks.get(name)], data, tmp_path / name, "test", None, 1, seed, 0, "")
        lines += [right(*each) for each in perfect(tmp_path / name, data)]
    unscored(
        None,
        filed(tmp_path / "a.jsonl", lines),
        "drawn with several seeds",
        add="m",
        gold_as_predictions=True,
        output=store,
    )
    lines = [each.replace('"perfect"', '"other"') if '"hoc/' in each else each for each in lines]
    unscored(
        None,
        filed(tmp_path / "a.jsonl", lines),
        "not made alike",
        add="m",
        seed=1,
        gold_as_predictions=True,
        output=store,
    )
    assert not store.exists()


def test_an_answer_to_nothing_that_was_asked_for(gold: tuple[Path, Gold], tmp_path: Path) -> None:
    lines = [right(*each) for each in of(gold[1], "gad").items()]
    unscored("gad,hoc", filed(tmp_path / "a.jsonl", lines), "there are no answers on hoc")
    unscored(None, tmp_path / "a.jsonl", "have no use for", column="x")


# Mentions as text and back to tags. Oracles: a decoder word by word, counts, and the files of BLURB.


WORDS = ["IL", "-", "2", "β", "a", "of", "TNF-α", "gene", "(", ")"]


def spans(words: str, *mentions: str) -> tuple[list[tuple[int, int]], dict[str, int]]:
    faults = Counter[str]()
    listed = [{"text": text, "type": "GENE"} for text in mentions]
    return [
        (start, end) for start, end, _ in SearchedWords(words.split()).spans(listed, faults)
    ], dict(faults)


@pytest.mark.parametrize(
    ("words", "mentions", "expected", "faults"),
    [
        ("IL - 2 binds IL - 2", ["IL-2", "IL - 2"], [(0, 3), (4, 7)], {}),
        ("a b a b", ["b", "b"], [(1, 2), (3, 4)], {}),
        ("a b a b", ["b", "a"], [(1, 2), (2, 3)], {}),
        ("a b c", ["c", "a"], [(0, 1), (2, 3)], {UNORDERED: 1}),
        ("a b c", ["a b", "b"], [(0, 2)], {OVERLAPPING: 1}),
        ("a b c", ["a b", "a b"], [(0, 2)], {OVERLAPPING: 1}),
        ("alpha b", ["a", "alp", "lpha", "", " "], [], {MISSING: 5}),
        ("a b c", ["a b c d", "B"], [], {MISSING: 2}),
        ("TNF - α ( TNF )", ["TNF-α", "TNF"], [(0, 3), (4, 5)], {}),
    ],
)
def test_places_and_faults(
    words: str, mentions: list[str], expected: object, faults: object
) -> None:
    assert spans(words, *mentions) == (expected, faults)


def by_words(words: list[str], mentions: list[list[str]]) -> list[tuple[int, int]]:
    """The cursor, word by word: the first free place behind the mention before, else the first free one."""
    free, found, cursor = [True] * len(words), [], 0
    for part in mentions:
        places = [
            at
            for at in range(len(words))
            if words[at : at + len(part)] == part and all(free[at : at + len(part)])
        ]
        if places:
            start = next((at for at in places if at >= cursor), places[0])
            cursor = start + len(part)
            free[start:cursor] = [False] * len(part)
            found.append((start, cursor))
    return sorted(found)


@given(st.lists(st.sampled_from(WORDS), max_size=14), st.data())
def test_it_is_the_cursor_by_words(words: list[str], data: st.DataObject) -> None:
    """No word of these is made of others, so letters and words give the same places."""
    starts = st.integers(0, max(0, len(words) - 1))
    pairs = data.draw(st.lists(st.tuples(starts, st.integers(1, 3)), max_size=6))
    mentions = [words[start : start + size] for start, size in pairs if words]
    listed = [{"text": " ".join(part), "type": "X"} for part in mentions]
    found = SearchedWords(words).spans(listed, Counter())
    assert [(start, end) for start, end, _ in found] == by_words(words, mentions)


def generated(count: int) -> list[tuple[list[str], list[Span]]]:
    """Sentences with repeated, adjacent and nested names, Greek letters and words with blanks of their own."""
    draw = random.Random(7)
    rows = []
    for number in range(count):
        words, entities = [f"w{number}"], list[Span]()
        for _ in range(draw.randrange(6)):
            name = draw.choice(
                [["IL", "-", "2"], ["IL", "-", "2", "receptor"], ["β"], ["NF\u00a0κB"], ["p53"]]
            )
            entities.append(
                Span(len(words), len(words) + len(name), draw.choice(["GENE", "Disease"]))
            )
            words += [*name, *draw.choice([[], ["and"], ["of", "the"]])]
        rows.append((words, entities))
    return rows


def test_a_generated_corpus_comes_back() -> None:
    faults = Counter[str]()
    for words, entities in generated(2000):
        written = of_tags(words, tagging.tags(entities, len(words), "bio"))
        assert SearchedWords(words).spans(written, faults) == entities
    assert not faults


@pytest.mark.real
@pytest.mark.parametrize(
    "name", ["bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba", "ebm-pico"]
)
def test_gold_mentions_come_back(name: str, real_data: Path) -> None:
    """At most one mention in seven hundred is found at an earlier place that nobody annotated."""
    gold = read_split(tasks.get(name), real_data, "test")
    faults, same, total = Counter[str](), 0, 0
    for row in gold:
        right = tagging.decode_spans(row["tags"])
        found = SearchedWords(row["tokens"]).spans(of_tags(row["tokens"], row["tags"]), faults)
        same, total = same + len({*right} & {*found}), total + len(right)
    assert not faults
    assert same / total >= 0.9985
