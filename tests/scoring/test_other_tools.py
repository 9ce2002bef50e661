"""Files as other tools write them, read without a change: the gold answers in each form score 100."""

import csv
import io
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.inputs import tagging
from blurb.messages.errors import BlurbError
from blurb.scoring.decoding import SHORT
from tests.cli.in_process import blurb as command
from tests.scoring import filed, unscored

NER = read_split(tasks.get("ncbi-disease"), demo.prepare(), "test")
PICO = read_split(tasks.get("ebm-pico"), demo.prepare(), "test")
GAD = read_split(tasks.get("gad"), demo.prepare(), "test")
Mention = dict[str, Any]


def entities(row: Mapping[str, Any]) -> list[tuple[int, int, str]]:
    """First word, the one behind the last, and type."""
    return [(start, end, kind) for start, end, kind in tagging.decode_spans(row["tags"])]


def said(row: Mapping[str, Any], start: int, end: int) -> str:
    return " ".join(row["tokens"][start:end])


def characters(row: Mapping[str, Any], start: int, end: int) -> dict[str, int]:
    """Of the words with blanks between them."""
    before = len(" ".join(row["tokens"][:start])) + (start > 0)
    return {"start": before, "end": before + len(said(row, start, end))}


def score(
    path: Path, rows: Sequence[Mapping[str, Any]], task: str = "ncbi-disease", **more: Any
) -> Any:
    return blurb.score(task, filed(path, map(json.dumps, rows)), suite="demo", **more)[0]


def refused(
    path: Path, rows: Sequence[Mapping[str, Any]], said: str, task: str = "ncbi-disease"
) -> None:
    with pytest.raises(BlurbError, match=said):
        score(path, rows, task)


KEYS: dict[str, Callable[[str, str], Mention]] = {
    "type": lambda text, kind: {"text": text, "type": kind},
    "label": lambda text, kind: {"text": text, "label": kind, "score": 0.9, "start": 0, "end": 1},
    "entity_group": lambda text, kind: {"text": text, "entity_group": kind},
    "entity": lambda text, kind: {"text": text, "entity": kind},
    "tag": lambda text, kind: {"text": text, "tag": f"B-{kind}"},
    "entity is the text": lambda text, kind: {"entity": text, "type": kind},
    "two keys": lambda text, kind: {"text": text, "type": kind, "tag": "NN", "label": kind},
}


@pytest.mark.parametrize("key", KEYS)
def test_the_type_of_a_mention_stands_under_any_of_its_names(key: str, tmp_path: Path) -> None:
    """What is a gene is no disease: refused, or left out where `--map` says so."""
    rows = [
        {
            "id": row["id"],
            "mentions": [KEYS[key](said(row, a, b), kind) for a, b, kind in entities(row)],
        }
        for row in NER
    ]
    assert score(tmp_path / "a.jsonl", rows).score == 100
    genes = [
        {**row, "mentions": [*row["mentions"], KEYS[key](NER[at]["tokens"][0], "Gene")]}
        for at, row in enumerate(rows)
    ]
    refused(
        tmp_path / "a.jsonl",
        genes,
        r"'(B-)?Gene' is no label of ncbi-disease, which are Disease.*map",
    )
    assert score(tmp_path / "a.jsonl", genes, names={"Gene": "O"}).score == 100


def test_a_type_that_is_not_said_is_that_of_the_task_only_without_other_keys(
    tmp_path: Path,
) -> None:
    for more in ({}, {"start": 0, "end": 3, "score": 0.5}):
        rows = [
            {
                "id": row["id"],
                "mentions": [{"text": said(row, a, b), **more} for a, b, _ in entities(row)],
            }
            for row in NER
        ]
        assert score(tmp_path / "a.jsonl", rows).score == 100
    rows[3]["mentions"] = [{"text": "a", "category": "Gene"}]  # type: ignore[assignment]
    refused(tmp_path / "a.jsonl", rows, r"a.jsonl:4: the mention '.*category.*' has no type")


def test_two_types_that_disagree_are_refused(tmp_path: Path) -> None:
    kinds = tasks.get("ebm-pico").labels
    rows = [
        {"id": row["id"], "mentions": [{"text": "a", "type": kinds[0], "label": kinds[1]}]}
        for row in PICO
    ]
    refused(tmp_path / "a.jsonl", rows, "has two types of ebm-pico", "ebm-pico")


def pieces(row: Mapping[str, Any]) -> list[Mention]:
    """Sub-tokens with tags, as the pipeline of transformers gives them without aggregation."""
    found = []
    for place, (word, tag) in enumerate(zip(row["tokens"], row["tags"], strict=True)):
        at = characters(row, place, place + 1)["start"]
        cuts = [(0, 2), (2, len(word))] if len(word) > 2 else [(0, len(word))]
        for number, (start, end) in enumerate(cuts if tag != "O" else []):
            kind = f"I-{tag[2:]}" if number else tag
            text = f"##{word[start:end]}" if number else word[start:end]
            found.append(
                {
                    "entity": kind,
                    "word": text.lower(),
                    "start": at + start,
                    "end": at + end,
                    "index": place,
                }
            )
    return found


TOKEN_CLASSIFICATION: dict[str, Callable[[Mapping[str, Any]], list[Mention]]] = {
    "grouped": lambda row: [
        {
            "entity_group": kind,
            "score": 0.9,
            "word": said(row, a, b).lower(),
            **characters(row, a, b),
        }
        for a, b, kind in entities(row)
    ],
    "tokens": pieces,
    "words of blurb predict": lambda row: [
        {"start": a, "end": b, "type": kind, "score": 0.9} for a, b, kind in entities(row)
    ],
    "characters of blurb predict": lambda row: [
        {"text": said(row, a, b), "type": kind, "score": 0.9, **characters(row, a, b)}
        for a, b, kind in entities(row)
    ],
}


@pytest.mark.parametrize("column", ["prediction", "spans", "entities", "mentions"])
@pytest.mark.parametrize("form", TOKEN_CLASSIFICATION)
def test_token_classification(form: str, column: str, tmp_path: Path) -> None:
    rows = [{"id": row["id"], column: TOKEN_CLASSIFICATION[form](row)} for row in NER]
    assert score(tmp_path / "a.jsonl", rows).score == 100


def test_tokens_of_two_entities_are_not_joined(tmp_path: Path) -> None:
    """Some models tag every token with I; what does not touch is another entity."""
    row = next(row for row in NER if len(row["tokens"]) > 4 and set(row["tags"]) == {"O"})
    spans = [
        {
            "entity": "I-Disease",
            "word": said(row, place, place + 1),
            **characters(row, place, place + 1),
        }
        for place in (0, 3)
    ]
    rows = [
        {"id": each["id"], "spans": spans if each is row else TOKEN_CLASSIFICATION["tokens"](each)}
        for each in NER
    ]
    found = score(tmp_path / "a.jsonl", rows)
    gold = sum(len(entities(row)) for row in NER)
    assert found.figures["precision"] == pytest.approx(100 * gold / (gold + 2))
    assert found.figures["recall"] == 100


@pytest.mark.parametrize("place", ["x", None, [0], 1e999, 3.5, True, "7"])
def test_places_that_are_none_are_refused(place: object, tmp_path: Path) -> None:
    rows = [
        {"id": row["id"], "spans": [{"start": 0, "end": place, "type": "Disease"}]} for row in NER
    ]
    refused(tmp_path / "a.jsonl", rows, "is no list of mentions")


@pytest.mark.parametrize("shift", [(0, -1), (1, 0), (1, 1)])
def test_a_place_that_does_not_have_its_word_is_refused(
    shift: tuple[int, int], tmp_path: Path
) -> None:
    """Ends that count the last character in, or places from 1 on, would be a score of other entities."""

    def moved(row: Mapping[str, Any]) -> list[Mention]:
        return [
            {**each, "start": each["start"] + shift[0], "end": each["end"] + shift[1]}
            for each in TOKEN_CLASSIFICATION["grouped"](row)
        ]

    rows = [{"id": row["id"], "spans": moved(row)} for row in NER]
    refused(tmp_path / "a.jsonl", rows, "or its 'word' is not there")


def test_what_a_tokenizer_changes_in_a_word_is_no_difference(tmp_path: Path) -> None:
    def changed(row: Mapping[str, Any]) -> list[Mention]:
        spans = TOKEN_CLASSIFICATION["grouped"](row)
        for number, each in enumerate(spans):
            each["word"] = (
                "[UNK]",
                f"\u2581{each['word']}",
                "\u00c3\u00a9",
                " ##".join(each["word"]),
            )[number % 4]
        return spans

    rows = [{"id": row["id"], "spans": changed(row)} for row in NER]
    assert score(tmp_path / "a.jsonl", rows).score == 100


@pytest.mark.parametrize("tagged", ["list", "text"])
@pytest.mark.parametrize("first", [True, False])
def test_tags_among_entities_are_refused(first: bool, tagged: str, tmp_path: Path) -> None:
    """As texts of mentions they would be found nowhere, and lower the score."""
    rows = [
        {"id": row["id"], "prediction": TOKEN_CLASSIFICATION["words of blurb predict"](row)}
        for row in NER
    ]
    at = 0 if first else len(rows) - 1
    tags = NER[at]["tags"]
    rows[at]["prediction"] = tags if tagged == "list" else json.dumps(tags)
    refused(tmp_path / "a.jsonl", rows, rf"a.jsonl:{at + 1}: .* is no list of mentions")


def test_places_count_by_themselves(tmp_path: Path) -> None:
    """The last of two equal words is found by its place alone."""
    row = next(row for row in NER if any(tag != "O" for tag in row["tags"]))
    at = len(row["tokens"]) - 1
    spans = [{"start": at, "end": at + 1, "type": "Disease"}]
    rows = [{"id": each["id"], "spans": spans if each is row else []} for each in NER]
    assert score(tmp_path / "a.jsonl", rows).figures["precision"] in (0.0, 100.0)


@pytest.mark.parametrize(
    "entity",
    [
        {"start": 900, "end": 901, "type": "Disease"},
        # Of spaCy and Prodigy: characters, but without the text there.
        {"start": 0, "end": 13, "token_start": 0, "token_end": 1, "label": "Disease"},
        {"start": -1, "end": 1, "type": "Disease"},
        {"start": 2, "end": 2, "type": "Disease"},
        {"start": 900, "end": 907, "word": "gliomas", "entity_group": "Disease"},
    ],
)
def test_a_place_outside_its_sentence_is_refused(entity: dict[str, Any], tmp_path: Path) -> None:
    """It was counted in another unit; before, such a mention took the whole sentence or was left out."""
    short = next(place for place, row in enumerate(NER) if len(row["tokens"]) < 13)
    rows = [
        {"id": row["id"], "spans": [entity] if place == short else []}
        for place, row in enumerate(NER)
    ]
    refused(tmp_path / "a.jsonl", rows, rf"a.jsonl:{short + 1}: an entity is at no place of its")


def test_tokens_of_other_types_are_other_entities(tmp_path: Path) -> None:
    """Pieces without aggregation: those of one type are one mention, neighbours of another type are not."""
    given = []
    for row in PICO:
        starts = [0, *accumulate(len(word) + 1 for word in row["tokens"])]
        pieces = [
            {"entity": tag, "word": word, "start": at, "end": at + len(word)}
            for tag, word, at in zip(row["tags"], row["tokens"], starts, strict=False)
            if tag != "O"
        ]
        given.append({"id": row["id"], "entities": pieces})
    assert score(tmp_path / "a.jsonl", given, "ebm-pico").score == 100
    words, tags = PICO[0]["tokens"], ["I-PAR", "I-INT", *["O"] * (len(PICO[0]["tokens"]) - 2)]
    given[0]["entities"] = [
        {"entity": "I-PAR", "word": words[0], "start": 0, "end": len(words[0])},
        {"entity": "I-INT", "word": words[1], "start": len(words[0]) + 1, "end": len(words[0]) + 2},
    ]
    as_tags = [{"id": row["id"], "tags": row["tags"]} for row in PICO]
    as_tags[0]["tags"] = tags
    assert (
        score(tmp_path / "b.jsonl", given, "ebm-pico").score
        == score(tmp_path / "c.jsonl", as_tags, "ebm-pico").score
        < 100
    )


def test_lines_of_tags_of_run_ner(tmp_path: Path) -> None:
    """Sentences that were cut have fewer tags than words; more tags are another file's."""
    lines = [" ".join(row["tags"]) for row in NER]
    path = filed(tmp_path / "predictions.txt", lines)
    assert blurb.score("ncbi-disease", path, suite="demo")[0].score == 100
    last = next(
        place for place, row in enumerate(NER) if row["tags"][-1] == "O" and len(row["tags"]) > 1
    )
    cut = [line.rpartition(" ")[0] if place == last else line for place, line in enumerate(lines)]
    found = blurb.score("ncbi-disease", filed(path, cut), suite="demo")[0]
    assert (found.score, dict(found.faults)) == (100, {SHORT: 1})
    assert (
        "fewer tags"
        in command(
            ["score", "--suite", "demo", "--task", "ncbi-disease", "--predictions", str(path)],
            tmp_path,
        )[1]
    )
    filed(path, [*lines[:5], f"{lines[5]} O", *lines[6:]])
    unscored("ncbi-disease", path, r"predictions.txt:6: \d+ tags, but test.5 has \d+ words")
    filed(path, lines[1:])
    with pytest.raises(BlurbError):
        blurb.score("ncbi-disease", path, suite="demo")


def shuffled(rows: list[Any]) -> list[Any]:
    return random.Random(1).sample(rows, len(rows))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", ["doc_id", "instance_id", "sample", "index", "id"])
@pytest.mark.parametrize("ending", ["jsonl", "csv", "frame"])
def test_numbers_say_which_example_it_is(
    ending: str, name: str, first: int, tmp_path: Path
) -> None:
    rows = [
        {name: place + first, "prediction": row["label"], "seconds": 0.5}
        for place, row in enumerate(GAD)
    ]
    rows = shuffled(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    path = tmp_path / f"a.{ending}"
    path.write_text(
        text.getvalue() if ending == "csv" else "".join(json.dumps(row) + "\n" for row in rows)
    )
    found = blurb.score("gad", rows if ending == "frame" else path, suite="demo")[0]
    assert found.score == 100
    assert found.matched in ("by number", "by id")
    assert not any("by order" in remark for remark in found.remarks)


@pytest.mark.parametrize("written", ["{}", "{}.0", "{:05d}", "q{}", "test.{}"])
@pytest.mark.parametrize("name", ["", "qid"])
def test_numbers_as_tools_write_them(name: str, written: str, tmp_path: Path) -> None:
    """An index that pandas writes has no name, a column with gaps is one of floats; ids have letters in front."""
    rows = shuffled([f"{written.format(place)},{row['label']}" for place, row in enumerate(GAD)])
    path = filed(tmp_path / "a.csv", [f"{name},prediction", *rows])
    assert blurb.score("gad", path, suite="demo")[0].score == 100


QA, PAIRS, ABSTRACTS = (
    read_split(tasks.get(name), demo.prepare(), "test") for name in ("pubmedqa", "biosses", "hoc")
)


@pytest.mark.parametrize("name", ["pmid", "pair_id", "sentence_id", "guid", "Key"])
@pytest.mark.parametrize(("task", "rows"), [("pubmedqa", QA), ("gad", GAD)])
def test_a_column_of_any_name_that_has_the_ids_is_the_id(
    task: str, rows: list[Any], name: str, tmp_path: Path
) -> None:
    """Also beside an `id` that only numbers the lines: it was scored in the order of the file, without a word."""
    given = [{name: row["id"], "prediction": row["label"]} for row in shuffled(rows)]
    assert score(tmp_path / "a.jsonl", given, task).score == 100
    numbered = [{"id": place, **each} for place, each in enumerate(given)]
    found = score(tmp_path / "b.jsonl", numbered, task)
    assert (found.score, found.matched) == (100, "by id")
    doubled = [{**given[0], name: given[1][name]}, *given[1:]]
    refused(tmp_path / "c.jsonl", doubled, "occurs twice", task)


@pytest.mark.parametrize(
    ("task", "rows", "columns"),
    [
        ("pubmedqa", QA, lambda row: {"question": row["question"], "context": row["context"]}),
        ("pubmedqa", QA, lambda row: {"context": row["context"]}),
        ("biosses", PAIRS, lambda row: {"text_a": row["text_a"], "text_b": row["text_b"]}),
        ("hoc", ABSTRACTS, lambda row: {"sentence": row["text"]}),
        ("ncbi-disease", NER, lambda row: {"text": " ".join(row["tokens"])}),
        ("ncbi-disease", NER, lambda row: {"text": "".join(row["tokens"])}),
        ("ncbi-disease", NER, lambda row: {"tokens": " ".join(row["tokens"])}),
    ],
)
def test_texts_of_other_examples_are_refused(
    task: str, rows: list[Any], columns: Callable[[Any], dict[str, str]], tmp_path: Path
) -> None:
    answer = next(name for name in ("label", "labels", "score", "tags") if name in rows[0])
    given = [{**columns(row), "prediction": row[answer]} for row in rows]
    found = score(tmp_path / "a.jsonl", given, task)
    assert (found.score, found.matched) == (100, "by order and texts")
    refused(tmp_path / "b.jsonl", given[1:] + given[:1], r"the text is not that of|tags, but", task)


def test_a_frame_in_another_order_says_so_by_its_index() -> None:
    """As the CSV of the frame does, in a column without a name."""
    import pandas

    frame = pandas.DataFrame({"prediction": [row["label"] for row in GAD]})
    for mixed in (frame.sample(frac=1, random_state=1), frame["prediction"].sample(frac=1)):
        assert blurb.score("gad", mixed, suite="demo")[0].score == 100
    assert blurb.score("gad", frame, suite="demo")[0].matched == "by order"
    beyond = frame.set_axis(range(500, 500 + len(GAD)))
    assert blurb.score("gad", beyond, suite="demo")[0].matched == "by order"


@pytest.mark.parametrize("beside", ["pred_std", "output_tokens", "pred_seconds", "y_pred_rank"])
def test_a_name_that_begins_as_that_of_predictions_may_be_another(
    beside: str, tmp_path: Path
) -> None:
    """The spread of a score was taken for it."""
    rows = [{"id": row["id"], "score": row["score"], beside: 0.3} for row in PAIRS]
    refused(tmp_path / "a.jsonl", rows, f"no column is surely .*{beside}", "biosses")
    assert score(tmp_path / "a.jsonl", rows, "biosses", column="score").score == 100


def test_numbers_in_the_order_of_the_file_are_an_order(tmp_path: Path) -> None:
    rows = [{"doc_id": place, "prediction": row["label"]} for place, row in enumerate(GAD)]
    assert score(tmp_path / "a.jsonl", rows, "gad").matched == "by order"


def test_numbers_that_disagree_are_refused(tmp_path: Path) -> None:
    numbers = shuffled([*range(len(GAD))])
    rows = [{"doc_id": n, "rank": len(GAD) - n, "prediction": "0"} for n in numbers]
    refused(
        tmp_path / "a.jsonl",
        rows,
        "several columns may number the examples, and disagree: doc_id, rank",
        "gad",
    )


def test_numbers_with_words_of_another_example_are_refused(tmp_path: Path) -> None:
    rows = [
        {"nr": place, "text": row["text"], "prediction": row["label"]}
        for place, row in enumerate(GAD)
    ]
    rows[3]["nr"], rows[4]["nr"] = 4, 3
    refused(tmp_path / "a.jsonl", rows, "the text is not that of", "gad")


def sample(place: int, row: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A sample of lm-evaluation-harness."""
    other = {
        "doc_hash": "x",
        "prompt_hash": "y",
        "target": row["label"],
        "acc": 1.0,
        "filter": "none",
    }
    return {"doc_id": place, "doc": {"text": row["text"]}, "resps": [["?"]], **other, **more}


def test_samples_of_lm_evaluation_harness(tmp_path: Path) -> None:
    """Texts, and choices with their log-likelihoods in both forms of the file."""
    texts = [sample(place, row, filtered_resps=[row["label"]]) for place, row in enumerate(GAD)]
    assert score(tmp_path / "a.jsonl", shuffled(texts), "gad").score == 100
    for as_text in (False, True):
        choices = []
        for place, row in enumerate(GAD):
            values = [[-0.1 if name == row["label"] else -9.5, False] for name in ("0", "1")]
            given = {f"gen_args_{at}": {"arg_0": "?", "arg_1": f" {at}"} for at in (0, 1)}
            asked: Any = given if as_text else [["?", " 0"], ["?", " 1"]]
            values = [[*map(str, each)] for each in values] if as_text else values
            choices.append(sample(place, row, filtered_resps=values, arguments=asked))
        assert score(tmp_path / "a.jsonl", shuffled(choices), "gad").score == 100
        # Keys in another order, and numbers of documents with gaps
        gaps = [{**each, "doc_id": 3 * each["doc_id"] + 7} for each in choices]
        for each in gaps if as_text else ():
            each["arguments"] = dict(reversed(each["arguments"].items()))
        assert score(tmp_path / "a.jsonl", shuffled(gaps), "gad").score == 100
        choices[2]["filtered_resps"][0][0] = "nan" if as_text else math.nan
        refused(tmp_path / "a.jsonl", choices, r"a.jsonl:3: a value that cannot be read", "gad")
    texts[7]["filtered_resps"] = ["0", "1"]
    refused(tmp_path / "a.jsonl", texts, r"a.jsonl:8: a value that cannot be read", "gad")


def test_tokens_with_a_sign_left_out_between_them_have_their_place(tmp_path: Path) -> None:
    """Two tokens that one character separates are one entity, whose words they then are not in full."""
    at = next(
        at
        for at, row in enumerate(NER)
        if any(len(row["tokens"][a]) > 4 for a, _, _ in entities(row))
    )
    start, end, kind = next(one for one in entities(NER[at]) if len(NER[at]["tokens"][one[0]]) > 4)
    first = characters(NER[at], start, end)["start"]
    word = NER[at]["tokens"][start]
    spans = [
        {"entity": f"B-{kind}", "word": word[:2], "start": first, "end": first + 2},
        {"entity": f"I-{kind}", "word": word[3:], "start": first + 3, "end": first + len(word)},
        {
            "entity": f"I-{kind}",
            "word": "",
            "start": first + len(word),
            "end": first + len(word) + 1,
        },
    ]
    rows = [
        {"id": row["id"], "spans": spans[: 3 if end - start > 1 else 2] if row is NER[at] else []}
        for row in NER
    ]
    assert score(tmp_path / "a.jsonl", rows).figures["precision"] in (0.0, 100.0)


@pytest.mark.parametrize("column", ["text", "prompt", "context"])
def test_a_text_beside_the_words_of_a_pair_may_be_anything(column: str, tmp_path: Path) -> None:
    """Of a task that has columns for its texts these are compared, and no others."""
    pairs = read_split(tasks.get("biosses"), demo.prepare(), "test")
    rows = [
        {"text_a": row["text_a"], "text_b": row["text_b"], column: "x", "prediction": number % 4}
        for number, row in enumerate(pairs)
    ]
    assert score(tmp_path / "a.jsonl", rows, "biosses").matched == "by order and texts"
