"""Answers to requests without a model: those of a perfect one, and what each way back from text to tags makes of them.

    python -m benchmarks.answers perfect REQUESTS --data BLURB --out answers.jsonl
    python -m benchmarks.answers decoders --data BLURB
    python -m benchmarks.answers relaxed STORE --data BLURB

`decoders` prints the table of docs/results/language-models: the gold mentions of the test files, written as each
harness asks for them, through its own way back to tags. The ways of others are written anew after their descriptions.
`relaxed` prints what looser matches of entities make of the predictions of a store.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blurb import formulations, tasks
from blurb.data.loading import read_split
from blurb.inputs import tagging
from blurb.scoring import requests
from blurb.scoring.answer_forms import SearchedWords
from blurb.store.record import PREDICTIONS, read_predictions
from blurb.table_files import FileLine, json_object
from blurb.tasks import Task

TAGGED = ("bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba", "ebm-pico")
MOST = 5
"""Entities of a type that EuroEval's schema allows."""


def line(custom_id: str, content: str | None, **more: Any) -> str:
    """A line of a batch service.

    :param more: of the choice, or a `model`
    """
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
        **more,
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    body = {"model": more.pop("model", "perfect"), "choices": [choice], "usage": usage}
    response = {"status_code": 200, "body": body}
    return json.dumps(
        {"custom_id": custom_id, "response": response, "error": None}, ensure_ascii=False
    )


def perfect(asked: Path, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The custom_id and the right answer of each request of a folder."""
    path = asked / requests.MANIFEST
    for name, content in json_object(path.read_text(), FileLine(path, 1))["requests"].items():
        manifest = requests.Manifest(**content)
        _, units = requests.requested_examples(
            tasks.get(name), folder, manifest.split, manifest.limit
        )
        for unit in units:
            yield (
                f"{name}/{unit['id']}/{manifest.digits}",
                requests.gold_answer(tasks.get(name), unit, manifest.names),
            )


Words, Texts = Sequence[str], Sequence[str]
Letters = list[str]
"""`B`, `I` or `O` of each word."""


def places(words: Words, text: str, cut: str = r"\S+") -> Iterator[tuple[int, int]]:
    """Where a mention stands in a sentence, word by word.

    :param cut: pattern of the words of a mention
    """
    part = re.findall(cut, text)
    for at in range(len(words) - len(part) + 1):
        if part and list(words[at : at + len(part)]) == part:
            yield at, at + len(part)


def letters(words: Words, found: Iterable[tuple[int, int]]) -> Letters:
    """Places that are tagged in their order; none is on a word that an earlier one has."""
    tagged = ["O"] * len(words)
    for start, end in found:
        if set(tagged[start:end]) == {"O"}:
            tagged[start:end] = ["B", *"I" * (end - start - 1)]
    return tagged


def containing(words: Words, texts: Texts, taken: Collection[int] = ()) -> Letters:
    """EuroEval (01f251f): a word that contains the first word of a mention begins an entity, wherever it stands.

    One that contains a later word continues the entity of the word before it, if it has no tag yet. There is one list
    of tags for all types, in the order of the labels.

    :param taken: words that have a tag of an earlier type
    """
    tagged = ["O"] * len(words)
    for text in texts:
        for place, part in enumerate(text.split()):
            for at, word in enumerate(words):
                inner = tagged[at] == "O" and at not in taken and tagged[at - 1] != "O"
                if part in word and (place == 0 or inner):
                    tagged[at] = "I" if place else "B"
    return tagged


def cut_at_punctuation(words: Words, texts: Texts) -> Letters:
    """IQVIA's pipeline (c03a2a2): a list with commas between mentions, whose words are cut at punctuation.

    A mention is every place in the text with its letters, also within a word, from that word on; words that have a tag
    keep it.
    """
    tagged, text = ["O"] * len(words), " ".join(words)
    for part in re.split(r"\s*,\s*", ", ".join(texts)):
        mention = " ".join(re.findall(r"\w+|[^\w\s]+", part))
        for place in re.finditer(re.escape(mention), text) if mention else ():
            start = text.count(" ", 0, place.start())
            letter = "B"
            for at in range(start, min(len(words), start + mention.count(" ") + 1)):
                if tagged[at] == "O":
                    tagged[at], letter = letter, "I"
    return tagged


def first(words: Words, texts: Texts) -> Letters:
    """The first occurrence of each mention."""
    return letters(words, (next(places(words, text)) for text in texts))


def everywhere(words: Words, texts: Texts) -> Letters:
    """All occurrences of each mention, in the order of the mentions."""
    return letters(words, (place for text in texts for place in places(words, text)))


def longest(words: Words, texts: Texts) -> Letters:
    """All occurrences, the longest mentions first."""
    return everywhere(words, sorted(texts, key=lambda text: -len(text.split())))


def cursor(words: Words, texts: Texts) -> Letters:
    """blurb's: the next place behind the mention before."""
    spans = SearchedWords(words).spans([{"text": text, "type": ""} for text in texts], Counter())
    return letters(words, ((start, end) for start, end, _ in spans))


def containing_some(words: Words, texts: Texts, taken: Collection[int] = ()) -> Letters:
    """As `containing`, of as many mentions as EuroEval's schema allows."""
    return containing(words, texts[:MOST], taken)


DECODERS: Mapping[str, Callable[..., Letters]] = {
    "words that contain a word of a mention (EuroEval)": containing,
    f"the same, at most {MOST} mentions of a type (its schema)": containing_some,
    "all occurrences, mentions cut at punctuation (IQVIA's BLURB pipeline)": cut_at_punctuation,
    "first occurrence": first,
    "all occurrences": everywhere,
    "all occurrences, longest first": longest,
    "in the order of the text, with a cursor (blurb)": cursor,
}


ONE_LIST = (containing, containing_some)
"""Decoders that have one list of tags for all types; of the others, each type has its own, and the last one stays."""


def decoded(task: Task, folder: Path, decoder: Callable[..., Letters]) -> float:
    """The score of the gold mentions of a test file on their way back."""
    formulation = formulations.bind(task)
    rows = read_split(task, folder, "test")
    predicted = []
    for row in rows:
        tags = ["O"] * len(row["tokens"])
        listed = requests.gold_answer(task, row, {label: label for label in task.labels})[
            "mentions"
        ]
        given = [each["type"] for each in listed]
        for kind in task.labels if decoder in ONE_LIST else dict.fromkeys(given):
            texts = [each["text"] for each in listed if each["type"] == kind]
            taken = (
                [{at for at, tag in enumerate(tags) if tag != "O"}] if decoder in ONE_LIST else []
            )
            for at, letter in enumerate(decoder(row["tokens"], texts, *taken)):
                if letter != "O":
                    tags[at] = f"{letter if task.task_type.borders else 'I'}-{kind}"
        predicted.append(tags)
    return 100 * formulation.score_of(rows, predicted)


def relaxed(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], words: Sequence[Words]
) -> list[float]:
    """F1 by exact spans, by the texts of a sentence (each as often as it stands there), and by any common word."""
    hits, total = [0.0, 0.0, 0.0], 0
    for right, answer, sentence in zip(gold, predicted, words, strict=True):
        first, second = (tagging.decode_spans(tags) for tags in (right, answer))
        texts = [
            Counter(" ".join(sentence[start:end]) for start, end, _ in spans)
            for spans in (first, second)
        ]
        touched = [
            [any(a[0] < b[1] and b[0] < a[1] for b in others) for a in spans]
            for spans, others in ((first, second), (second, first))
        ]
        hits[0] += 2 * len({*first} & {*second})
        hits[1] += 2 * (texts[0] & texts[1]).total()
        hits[2] += sum(map(sum, touched))
        total += len(first) + len(second)
    return [100 * hit / total for hit in hits]


def print_relaxed(store: Path, folder: Path) -> None:
    print("| | exact spans | texts | any common word |\n|---|---:|---:|---:|")
    for path in sorted(store.glob(f"*/*/*/{PREDICTIONS}")):
        task = tasks.get(path.parents[1].name)
        columns = read_predictions(path)
        test = [place for place, split in enumerate(columns["split"]) if split == "test"]
        words = {row["id"]: row["tokens"] for row in read_split(task, folder, "test")}
        gold, answers = (
            [columns[name][place] for place in test] for name in ("gold", "prediction")
        )
        figures = relaxed(gold, answers, [words[columns["id"][place]] for place in test])
        print(f"| {task.title} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("perfect", "decoders", "relaxed"):
        command = commands.add_parser(name)
        command.add_argument("--data", type=Path, required=True)
        if name == "relaxed":
            command.add_argument("store", type=Path)
        if name == "perfect":
            command.add_argument("requests", type=Path)
            command.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.command == "perfect":
        with given.out.open("w", encoding="utf-8") as file:
            for key, answer in perfect(given.requests, given.data):
                file.write(line(key, json.dumps(answer, ensure_ascii=False)) + "\n")
        return
    if given.command == "relaxed":
        print_relaxed(given.store, given.data)
        return
    chosen = [tasks.get(name) for name in TAGGED]
    print("| way back | " + " | ".join(task.title for task in chosen) + " |")
    print("|---|" + "---:|" * len(chosen))
    for name, decoder in DECODERS.items():
        print(
            f"| {name} | "
            + " | ".join(f"{decoded(task, given.data, decoder):.2f}" for task in chosen)
            + " |"
        )


if __name__ == "__main__":
    main()
