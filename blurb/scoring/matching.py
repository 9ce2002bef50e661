"""Finds the example of each answer: by id, or by order; compares everything that the file says of the examples."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from blurb import __version__, formulations
from blurb.data.loading import hash_and_verdict, path_of, read_split
from blurb.data.schema import Example, input_texts
from blurb.grouping import by_key
from blurb.messages import BlurbError, count_noun
from blurb.scoring.columns import Answer, AnswerFile, are_numbers
from blurb.store import plugins
from blurb.store.trial import from_json
from blurb.system.cache import cache_home
from blurb.system.files import read_json, text_hash, write_json
from blurb.tasks import SPLITS, Split, Task

SHOWN = 3
"""Ids that a message lists."""


def match(file: AnswerFile, units: Sequence[Example], split: str) -> tuple[list[int], str]:
    """The place in the file of each unit's answer, and how it was found, as words.

    :raises DataError: (file, line or ids) if not every unit has exactly one answer
    """
    by_id = _places_by_id(units, split)
    for cells in file.columns:
        if {*cells} <= by_id.keys() and len({*cells}) > len(units) / 2 and not are_numbers(cells):
            answers = map(lambda answer, cell: replace(answer, id=cell), file.answers, cells)
            file = replace(file, answers=[*answers])
            break
    ids = [answer.id for answer in file.answers]
    if any(ids) and "" in ids:
        nameless = next(answer for answer in file.answers if not answer.id)
        raise file.error("an answer without an id, although others have one.", nameless)
    if any(ids) and ({*ids} <= by_id.keys() or not are_numbers(ids)):
        places = _by_id(file, units, split, by_id)
        _compare_content(file, units, places)
        return places, "by id"
    if len(file.answers) != len(units):
        pairs = zip(units, file.answers, strict=False)
        wrong = next(
            (found for unit, answer in pairs if (found := _first_difference(answer, unit, set()))),
            None,
        )
        counts = (
            f"{count_noun(len(file.answers), 'answer')}, but {split} has {len(units):,} examples"
        )
        if wrong is not None:
            raise file.error(f"{wrong[0]} (The file has {counts}.)", wrong[1])
        last = file.answers[min(len(units), len(file.answers) - 1)] if file.answers else None
        raise file.error(f"{counts}.", last)
    places = sorted(range(len(units)), key=lambda place: int(file.answers[place].id or place))
    how = "by order" if places == [*range(len(units))] else "by number"
    return places, how + _compare_content(file, units, places)


def by_sentence(file: AnswerFile, units: Sequence[Example]) -> AnswerFile:
    """Cuts the tags of whole documents, as in BLURB's submissions of EBM PICO, into those of their sentences.

    :raises DataError: if a document has another number of words than tags
    """
    sentences = by_key((str(unit["doc_id"]), unit) for unit in units)
    cut = []
    for answer in file.answers:
        tags, parts = answer.value, sentences[answer.id]
        count = sum(len(unit["tokens"]) for unit in parts)
        if not isinstance(tags, list) or len(tags) != count:
            raise file.error(
                f"{answer.id[:40]!r} has {count:,} words; expected a list of as many tags.", answer
            )
        start = 0
        for unit in parts:
            cut.append(Answer(answer.line, unit["id"], tags[start : start + len(unit["tokens"])]))
            start += len(unit["tokens"])
    return AnswerFile(file.path, cut, file.dataset)


def _places_by_id(units: Sequence[Example], split: str) -> Mapping[str, int]:
    """Place of a unit by its id, with and without the name of the split, as submissions have it."""
    keys: dict[str, int] = {}
    for place, unit in enumerate(units):
        keys.setdefault(unit["id"].removeprefix(f"{split}."), place)
    return keys | {unit["id"]: place for place, unit in enumerate(units)}


def _by_id(
    file: AnswerFile, units: Sequence[Example], split: str, by_id: Mapping[str, int]
) -> list[int]:
    places: dict[int, int] = {}
    for place, answer in enumerate(file.answers):
        unit = by_id.get(answer.id)
        if unit is None:
            raise file.error(
                f"there is no example {answer.id[:40]!r} in {split}.",
                answer,
                fix="blurb data export writes the examples with their ids.",
            )
        if unit in places:
            raise file.error(
                f"the id {answer.id[:40]!r} occurs twice; the first is at line {file.answers[places[unit]].line}.",
                answer,
            )
        places[unit] = place
    missing = [unit["id"] for place, unit in enumerate(units) if place not in places]
    if missing:
        more = f" and {len(missing) - SHOWN:,} more" if len(missing) > SHOWN else ""
        raise file.error(
            f"{count_noun(len(missing), 'example')} of {split} without an answer: {', '.join(missing[:SHOWN])}{more}."
        )
    return [places[place] for place in range(len(units))]


def _compare_content(file: AnswerFile, units: Sequence[Example], places: Sequence[int]) -> str:
    """Compares words, texts and numbers of tags; returns what was compared, as words."""
    compared: set[str] = set()
    for unit, place in zip(units, places, strict=True):
        wrong = _first_difference(file.answers[place], unit, compared)
        if wrong:
            raise file.error(*wrong)
    return f" and {' and '.join(sorted(compared))}" if compared else ""


def _first_difference(
    answer: Answer, unit: Example, compared: set[str]
) -> tuple[str, Answer] | None:
    """The fault of an answer that does not fit its unit, with its place."""
    words: Any = unit.get("tokens")
    if words is not None and answer.words is not None:
        compared.add("words")
        for place, (given, word) in enumerate(zip(answer.words, words, strict=False)):
            if given != word:
                line = answer.lines[place] if answer.lines else answer.line
                return f"the word {given[:40]!r} where {unit['id']} has {word[:40]!r}.", Answer(
                    line, "", None
                )
        if len(answer.words) != len(words):
            return f"{len(answer.words)} words, but {unit['id']} has {len(words)} words.", answer
    if words is not None and isinstance(answer.value, list) and len(answer.value) != len(words):
        return f"{len(answer.value)} tags, but {unit['id']} has {len(words)} words.", answer
    for name, text in answer.texts.items():
        compared.add("texts")
        own = unit.get(name)
        texts = [own] if isinstance(own, str) else [*input_texts(unit), " ".join(input_texts(unit))]
        if _letters(text) not in map(_letters, texts):
            return f"the text is not that of {unit['id']} (column '{name}').", answer
    return None


def _letters(text: str) -> str:
    return "".join(text.split())


FOLDER = "verdicts"
"""Folder of the cache."""


@dataclass(frozen=True)
class DataFacts:
    """The gold of all splits of a dataset, as scoring needs it.

    :param hash: data hash, as trials have it; "" if a split is missing
    :param verdict: whether the splits at hand are BLURB's (`blurb.data.loading`)
    :param majority: the most frequent answer of train; None without train
    :param missing: splits without a file; scores need none but that of the predictions
    """

    hash: str
    verdict: str
    majority: Any
    missing: Sequence[Split] = ()


def facts(task: Task, folder: Path) -> DataFacts:
    """The facts of a dataset, kept in the cache until one of its files changes.

    :raises DataError: if a file is missing or invalid
    """
    paths = {split: path_of(task, folder, split) for split in SPLITS}
    place = cache_home() / FOLDER / f"{_cache_key(task, paths)}.json"
    with contextlib.suppress(BlurbError, OSError):
        return from_json(DataFacts, read_json(place), place)
    rows = {split: read_split(task, folder, split) for split in SPLITS if paths[split].exists()}
    digest, verdict = hash_and_verdict(task, rows)
    formulation = formulations.bind(task)
    majority = (
        formulation.constants(formulation.units(rows["train"]))[0] if "train" in rows else None
    )
    missing = [split for split in SPLITS if split not in rows]
    known = DataFacts("" if missing else digest, verdict, majority, missing)
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_json(place, asdict(known))
    return known


def _cache_key(task: Task, paths: Mapping[Split, Path]) -> str:
    """A key that changes with the files, the declaration of the task, and the code that reads them."""
    stamps = []
    for path in paths.values():
        with contextlib.suppress(OSError):
            status = path.stat()
            stamps.append([str(path.absolute()), status.st_size, status.st_mtime_ns, status.st_ino])
    content = json.dumps(
        [__version__, plugins.formulation_hash(task), repr(sorted(asdict(task).items())), stamps]
    )
    return text_hash(content)[:32]


def units_of(formulation: formulations.Formulation, folder: Path, split: Split) -> list[Example]:
    """The examples of a split as the formulation cuts them."""
    return formulation.units(read_split(formulation.task, folder, split))
