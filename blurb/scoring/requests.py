"""Requests to a language model, as batch services and `vllm run-batch` take them (`blurb data export --format batch`).

A file of requests has one line per example. `manifest.json` beside it records what the requests of a task were made
of, and each `custom_id` has eight digits of its hash, by which answers to other requests are recognised.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from blurb import formulations
from blurb.data.loading import read_split
from blurb.data.schema import Example, hash_rows
from blurb.fields import Field, check_fields, declare_field
from blurb.formulations._base import Formulation
from blurb.grouping import by_key
from blurb.learners.base import Subset
from blurb.messages import BlurbError, DataError, SettingsError, opt
from blurb.scoring import answer_forms, matching, prompts
from blurb.scoring.bodies import TOOL
from blurb.scoring.prompts import Prompts
from blurb.store.trial import from_json
from blurb.system.cache import cache_home
from blurb.system.files import read_json, replacing_file, text_hash, write_json
from blurb.tasks import SCORED, ScoredSplit, Split, Task

MANIFEST, CACHE, DIGITS = "manifest.json", "requests", 8
SAMPLE_SEED = 1
"""Seed of the examples that `--limit` draws: the same for all seeds of shots."""
COUNT = Field(low=0, most=2**53)


@dataclass(frozen=True)
class Manifest:
    """What the requests of a task were made of.

    :param examples: SHA-256 of the examples that are asked
    :param limit: how many of the split were drawn; 0 for all
    :param prompts: name of the prompts
    :param prompts_hash: SHA-256 of their files
    :param shots: number of solved examples before the question
    :param seed: of their draw from train
    :param shot_ids: their ids, in order
    :param names: name of a label in the prompts -> the task's
    :param requests: number of lines
    :param words: of all messages
    :param tokens: upper bound of the tokens of all messages: their bytes, as a token has at least one
    :param answer_tokens: upper bound of the tokens of all answers; 0 if the prompts set none
    """

    task: str = declare_field(MISSING, Field())
    split: ScoredSplit = declare_field(MISSING, Field(choices=SCORED))
    examples: str = declare_field(MISSING, Field())
    limit: int = declare_field(MISSING, COUNT)
    prompts: str = declare_field(MISSING, Field())
    prompts_hash: str = declare_field(MISSING, Field())
    shots: int = declare_field(MISSING, COUNT)
    seed: int = declare_field(MISSING, COUNT)
    shot_ids: Sequence[str] = declare_field(MISSING, Field(many=True))
    names: Mapping[str, str] = declare_field(
        MISSING,
        Field(
            must="map names to labels",
            rule=lambda given: (
                isinstance(given, dict) and all(isinstance(one, str) for one in given.values())
            ),
        ),
    )
    requests: int = declare_field(MISSING, COUNT)
    words: int = declare_field(MISSING, COUNT)
    tokens: int = declare_field(MISSING, COUNT)
    answer_tokens: int = declare_field(MISSING, COUNT)
    version: int = declare_field(1, COUNT)

    @cached_property
    def digits(self) -> str:
        """The end of each `custom_id`."""
        return text_hash(json.dumps(asdict(self), sort_keys=True))[:DIGITS]

    @property
    def input_hash(self) -> str:
        """Hash of all that decides how an example is put, except the draw of the shots."""
        return text_hash(json.dumps([self.prompts_hash, self.shots, self.version]))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a protocol that choose the same examples."""
        return {"max_eval": self.limit, "eval_seed": SAMPLE_SEED} if self.limit else {}


def _read_manifests(path: Path) -> dict[str, Manifest]:
    """The manifests of a file by dataset; a DataError for one that is there and holds anything else."""
    try:
        content = read_json(path).get("requests", {}) if path.is_file() else {}
        manifests = {name: from_json(Manifest, each, path) for name, each in content.items()}
        for manifest in manifests.values():
            check_fields(manifest)
    except (BlurbError, AttributeError) as error:
        raise DataError(
            f"is no manifest of requests ({str(getattr(error, 'what', error)).removesuffix('.')})",
            path,
            fix="update blurb if a newer one wrote it; else put back what blurb data export wrote, or move it away.",
        ) from error
    return manifests


def known(digits: str, near: Path) -> Manifest | None:
    """The manifest of requests, from beside their answers or from the cache of the machine that wrote them.

    :raises DataError: for a file that is no manifest
    """
    for path in (near / MANIFEST, cache_home() / CACHE / f"{digits}.json"):
        for manifest in _read_manifests(path).values():
            if manifest.digits == digits:
                return manifest
    return None


def requested_examples(
    task: Task, folder: Path, split: Split, limit: int
) -> tuple[Formulation, list[Example]]:
    """The examples of a split, or those that a limit draws."""
    formulation = formulations.bind(task)
    units = matching.units_of(formulation, folder, split)
    return formulation, list(Subset.draw(units, "", limit, SAMPLE_SEED).used)


def export(
    chosen: Sequence[Task],
    folder: Path,
    out: Path,
    split: ScoredSplit,
    path: Path | None,
    shots: int,
    seed: int,
    limit: int,
    model: str,
) -> list[Manifest]:
    """Writes `out/TASK.jsonl` for each task, and their manifest.

    :param folder: of the data
    :param path: a file or folder of prompts; None for those that come with blurb
    :param shots: solved examples before each question, drawn from train by `seed`
    :param limit: examples that are asked; 0 for all
    :param model: as the server calls it; "" leaves it to the sender of the requests
    :raises BlurbError: for prompts or data that do not fit, before anything is written
    """
    batches = []
    for task in chosen:
        train = formulations.bind(task).units(read_split(task, folder, "train")) if shots else []
        wording = prompts.load(path, task)
        wording.names(task)
        batches.append(TaskRequests(task, wording, shots_of(task, train, shots, seed), model))
    entries = _read_manifests(place := out / MANIFEST)
    if place.exists() and not entries:
        raise DataError(
            "is of something else, and would be replaced", place, fix="name another folder."
        )
    manifests = []
    for batch in batches:
        name, units = batch.task.name, requested_examples(batch.task, folder, split, limit)[1]
        manifest = _write_requests(out / f"{name}.jsonl", batch, units, split, limit, seed)
        entries[name] = manifest
        content = {name: asdict(each) for name, each in entries.items()}
        write_json(place, {"schema": 1, "requests": content})
        with contextlib.suppress(BlurbError, OSError):
            copy = cache_home() / CACHE / f"{manifest.digits}.json"
            copy.parent.mkdir(parents=True, exist_ok=True)
            write_json(copy, {"schema": 1, "requests": {name: asdict(manifest)}})
        manifests.append(manifest)
    return manifests


def shots_of(task: Task, train: Sequence[Example], count: int, seed: int) -> list[Example]:
    """Examples of train, the same for every model: classes in turn, the most frequent first.

    Classes are labels, rounded scores, or whether a text has a mention; texts with mentions come first.

    :raises SettingsError: if train has fewer
    """
    if count > len(train):
        raise SettingsError(
            f"train of {task.name} has {len(train)} examples", fix=f"give a smaller {opt('shots')}."
        )
    ranked = sorted(train, key=lambda row: hashlib.sha256(f"{seed} {row['id']}".encode()).digest())
    queues = by_key((name, row) for row in ranked for name in answer_forms.of(task).classes(row))
    sizes = Counter({name: len(rows) for name, rows in queues.items()})
    order = sorted(
        sizes,
        key=lambda name: (name is answer_forms.NO_LABEL and "tags" in train[0], -sizes[name], name),
    )
    drawn: dict[str, Example] = {}
    while len(drawn) < count:
        for name in order:
            row = next((row for row in queues[name] if row["id"] not in drawn), None)
            if row is not None and len(drawn) < count:
                drawn[row["id"]] = row
    return list(drawn.values())


@dataclass(frozen=True)
class TaskRequests:
    """The requests of a task.

    :param model: as the server calls it; "" leaves it to their sender
    """

    task: Task
    prompts: Prompts
    shots: Sequence[Example]
    model: str

    @cached_property
    def head(self) -> list[dict[str, str]]:
        """The conversation before an example."""
        system = self.prompts.system_message(self.task)
        turns = [{"role": "system", "content": system}] if system else []
        for shot in self.shots:
            answer = json.dumps(gold_answer(self.task, shot, self.names), ensure_ascii=False)
            turns += [self.question(shot), {"role": "assistant", "content": answer}]
        return turns

    @cached_property
    def names(self) -> dict[str, str]:
        """Name of a label in the prompts -> the task's."""
        return self.prompts.names(self.task)

    @cached_property
    def fixed(self) -> dict[str, Any]:
        """What the bodies of all requests have."""
        answer = answer_forms.of(self.task)
        schema = answer_forms.closed(
            {answer.key: answer.schema({"type": "string", "enum": [*self.names]})}
        )
        form = {"name": TOOL, "strict": True, "schema": schema}
        return {
            **self.prompts.request,
            "response_format": {"type": "json_schema", "json_schema": form},
        }

    def question(self, example: Example) -> dict[str, str]:
        """The message of an example."""
        return {"role": "user", "content": self.prompts.user_message(self.task, example)}


def gold_answer(task: Task, example: Example, names: Mapping[str, str]) -> dict[str, Any]:
    """The right answer to an example; `names` is the label of each name in the prompts."""
    form = answer_forms.of(task)
    return {form.key: form.gold(example, {label: name for name, label in names.items()})}


def _write_requests(
    path: Path,
    batch: TaskRequests,
    units: Sequence[Example],
    split: ScoredSplit,
    limit: int,
    seed: int,
) -> Manifest:
    """Writes the requests of a task; `seed` drew the shots."""
    questions = [batch.question(unit) for unit in units]
    head = "\n".join(turn["content"] for turn in batch.head)
    manifest = Manifest(
        task=batch.task.name,
        split=split,
        examples=hash_rows(units),
        limit=limit,
        prompts=batch.prompts.name,
        prompts_hash=batch.prompts.hash,
        shots=len(batch.shots),
        seed=seed,
        shot_ids=[shot["id"] for shot in batch.shots],
        names=batch.names,
        requests=len(units),
        words=sum(len(f"{head} {each['content']}".split()) for each in questions),
        tokens=sum(len(f"{head} {each['content']}".encode()) for each in questions),
        answer_tokens=len(units)
        * max(batch.prompts.request.get(name, 0) for name in prompts.ANSWER_LIMITS),
    )
    named = {"model": batch.model} if batch.model else {}
    with replacing_file(path) as aside, aside.open("w", encoding="utf-8") as file:
        for unit, question in zip(units, questions, strict=True):
            line = {
                "custom_id": f"{batch.task.name}/{unit['id']}/{manifest.digits}",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {**named, "messages": [*batch.head, question], **batch.fixed},
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return manifest
