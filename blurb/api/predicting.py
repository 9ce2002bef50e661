"""Kept models at work: `blurb.load_model` and `blurb.predict`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb import data as data_, tasks
from blurb.api.door import generator_lock
from blurb.data.raw import Input, Raw
from blurb.data.schema import Example
from blurb.inputs import tagging
from blurb.learners import saved_models
from blurb.learners.base import Learner, Subset
from blurb.messages import SettingsError
from blurb.planning.steps import check_files, find_folders
from blurb.store import plugins

if TYPE_CHECKING:
    from datasets import DatasetDict


class KeptModel:
    """A trained model of one task.

    :ivar task: the task that it was trained on
    :ivar about: what it rests on: trial, settings, precision, maximum length
    """

    def __init__(self, learner: Learner, about: dict[str, Any]) -> None:
        self._learner = learner
        self.about = about

    @property
    def task(self) -> tasks.Task:
        """The task that it was trained on."""
        return self._learner.formulation.task

    @property
    def reads_originals(self) -> bool:
        """Whether it was trained on the original release, as it reads the names of the entities."""
        return self._learner.formulation.needs_original

    def predict(self, inputs: Input | Sequence[Input]) -> list[dict[str, Any]]:
        """Predict labels and scores for inputs.

        For NER and PICO `spans`, each with start and end (in characters of a text, exclusive, or in words, if words
        were given), type, and score (the lowest probability of its words); for all others `prediction`, and `scores` by
        label where there are labels.

        :param inputs: texts or mappings with the columns of the task (docs/models.md)
        :raises DataError: if an input lacks something
        """
        several = [inputs] if isinstance(inputs, str | Mapping) else list(inputs)
        return self.of_raw(
            [data_.raw.read(self.task, given, number) for number, given in enumerate(several, 1)]
        )

    def of_raw(self, inputs: Sequence[Raw]) -> list[dict[str, Any]]:
        """As `predict`, for inputs that were read already."""
        predicted, scores = self._answers(
            self._learner.formulation.units([unit.example for unit in inputs])
        )
        if "tokens" in data_.raw.input_columns(self.task):
            assert scores is not None
            return [
                {"id": unit.example["id"], "spans": _spans_of_tags(unit, tags, sure)}
                for unit, tags, sure in zip(inputs, predicted, scores, strict=True)
            ]
        labels = self._learner.formulation.labels
        return [
            {
                "id": unit.example["id"],
                "prediction": answer,
                **(
                    {} if scores is None else {"scores": dict(zip(labels, scores[at], strict=True))}
                ),
            }
            for at, (unit, answer) in enumerate(zip(inputs, predicted, strict=True))
        ]

    def of_examples(self, examples: Sequence[Example]) -> list[dict[str, Any]]:
        """The answers to examples of a dataset (`blurb.load_dataset`) as a trial stores them: id, prediction, scores.

        One per example, or with `document_unit=abstract` one per abstract. A model that `reads_originals` needs
        examples of the original release.
        """
        units = self._learner.formulation.units(examples)
        predicted, scores = self._answers(units)
        return [
            {
                "id": unit["id"],
                "prediction": answer,
                "scores": None if scores is None else scores[at],
            }
            for at, (unit, answer) in enumerate(zip(units, predicted, strict=True))
        ]

    def _answers(
        self, units: Sequence[Example]
    ) -> tuple[Sequence[Any], Sequence[list[float]] | None]:
        if not units:
            return [], None
        answers, scores, *_ = self._learner.predict(Subset(units, ""))
        return answers, scores


def load_model(
    trial: Path | str,
    device: str = "auto",
    *,
    head: str | None = None,
    pooling: str | None = None,
    trust_remote_code: bool = False,
) -> KeptModel:
    """The trained model of a trial that was run with `keep_model="best"`. A model brings no code that you did not name.

    :param trial: folder of the trial (`Results.trial`), or its folder `model`, wherever it was moved
    :param head: its head, if that is a file of your own: `./my_head.py:MyHead`
    :param pooling: its pooling, likewise
    :param trust_remote_code: allow the Python files of its checkpoint
    :raises ModelError: if there is none, or it is damaged
    """
    plugins.load_all([{"head": head, "pooling": pooling}])
    folder = Path(trial)
    folder = folder if (folder / saved_models.ABOUT).is_file() else folder / saved_models.FOLDER
    with generator_lock():  # a network is built with random weights before it gets its own
        return KeptModel(*saved_models.load(folder, device, trust_remote_code))


def predict(
    trial: Path | str,
    inputs: Input | Sequence[Input],
    device: str = "auto",
    *,
    head: str | None = None,
    pooling: str | None = None,
    trust_remote_code: bool = False,
) -> list[dict[str, Any]]:
    """Predict with the trained model of a trial; for several calls, use `load_model` once.

    :param inputs: texts or mappings, see `KeptModel.predict`; the others are those of `load_model`
    """
    return load_model(
        trial, device, head=head, pooling=pooling, trust_remote_code=trust_remote_code
    ).predict(inputs)


def _spans_of_tags(
    given: Raw, tags: Sequence[str], scores: Sequence[float]
) -> list[dict[str, Any]]:
    spans = []
    for start, end, kind in tagging.decode_spans(list(tags)):
        span: dict[str, Any] = {"start": start, "end": end, "type": kind}
        if given.words is not None:
            span["start"], span["end"] = given.words[start][0], given.words[end - 1][1]
            span["text"] = given.text[span["start"] : span["end"]]
        spans.append({**span, "score": min(scores[start:end])})
    return spans


def load_dataset(
    task: str, data: Path | str | None = None, *, suite: str = "blurb", original: bool = False
) -> DatasetDict:
    """The examples of a task as `train`, `validation` and `test`; their columns are in docs/data.md.

    Nothing is tokenised or tagged yet. `info.description` of each split has the verdict on the data.

    :param task: name or task file
    :param data: data folder in BLURB's layout; not needed for a task file, nor for `suite="demo"`
    :param suite: name or folder of the suite that has the task
    :param original: read the original release, which has the names of the entities (ChemProt, DDI); `data` is then the
        folder of the originals
    :raises DataError: (file, line) if a file is missing or invalid
    """
    from datasets import DatasetDict

    chosen = tasks.load_selection(task, suite)
    if len(chosen) > 1:
        raise SettingsError(
            f"load_dataset needs one task (got {', '.join(one.name for one in chosen)})."
        )
    folder, _ = find_folders(suite, None if data is None else Path(data), None, chosen)
    if original:
        from blurb.corpora.original_readers import load_original

        content = load_original(chosen[0], folder)
    else:
        check_files(chosen, folder)
        content = data_.load_task(chosen[0], folder)
    names = {"train": "train", "dev": "validation", "test": "test"}
    for part in content.splits.values():
        part.info.description = (
            f"{chosen[0].title}; data {content.verdict}; hash {content.hash[:12]}"
        )
    return DatasetDict({names[split]: part for split, part in content.splits.items()})
