"""Kept models at work: `blurb.load_model` and `blurb.predict`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.api.generator_lock import generator_lock
from blurb.data import raw
from blurb.data.raw import Input, Raw
from blurb.inputs import tagging
from blurb.learners import saved_models
from blurb.learners.base import Subset
from blurb.store import plugins

if TYPE_CHECKING:
    from blurb.data.schema import Example
    from blurb.learners.base import Learner
    from blurb.tasks import Task


class KeptModel:
    """A trained model of one task.

    :ivar task: the task that it was trained on
    :ivar about: what it rests on: trial, settings, precision, maximum length
    """

    def __init__(self, learner: Learner, about: dict[str, Any]) -> None:
        self._learner = learner
        self.about = about

    @property
    def task(self) -> Task:
        """The task that it was trained on."""
        return self._learner.formulation.task

    @property
    def reads_originals(self) -> bool:
        """Whether it was trained on the original release, as it reads the names of the entities."""
        return self._learner.formulation.needs_original

    def predict(self, inputs: Input | Sequence[Input]) -> list[dict[str, Any]]:
        """What the model says of inputs.

        For NER and PICO `spans`, each with start and end (in characters of a text, exclusive, or in words, if words
        were given), type, and score (the lowest probability of its words); for all others `prediction`, and `scores` by
        label where there are labels.

        :param inputs: texts or mappings with the columns of the task (docs/models.md)
        :raises DataError: if an input lacks something
        """
        several = [inputs] if isinstance(inputs, str | Mapping) else list(inputs)
        return self.of_raw([raw.read(self.task, given, number) for number, given in enumerate(several, 1)])

    def of_raw(self, inputs: Sequence[Raw]) -> list[dict[str, Any]]:
        """The same for inputs that were read already."""
        units = self._learner.formulation.units([unit.example for unit in inputs])
        predicted, scores = self._answers(units)
        if "tokens" in raw.columns(self.task):
            assert scores is not None
            return [
                {"id": unit.example["id"], "spans": _spans(unit, tags, sure)}
                for unit, tags, sure in zip(inputs, predicted, scores, strict=True)
            ]
        labels = self._learner.formulation.labels
        return [
            {
                "id": unit.example["id"],
                "prediction": answer,
                **({} if scores is None else {"scores": dict(zip(labels, scores[at], strict=True))}),
            }
            for at, (unit, answer) in enumerate(zip(inputs, predicted, strict=True))
        ]

    def of_examples(self, examples: Sequence[Example]) -> list[dict[str, Any]]:
        """The answers to examples of a dataset (`blurb.load_dataset`) as a trial stores them: id, prediction, scores.

        One an example, or with `document_unit=abstract` one an abstract. A model that `reads_originals` wants examples
        of the original release.
        """
        units = self._learner.formulation.units(examples)
        predicted, scores = self._answers(units)
        return [
            {"id": unit["id"], "prediction": answer, "scores": None if scores is None else scores[at]}
            for at, (unit, answer) in enumerate(zip(units, predicted, strict=True))
        ]

    def _answers(self, units: Sequence[Example]) -> tuple[Sequence[Any], Sequence[list[float]] | None]:
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
    """What the trained model of a trial says of inputs; for several calls, `load_model` once.

    :param inputs: texts or mappings, see `KeptModel.predict`; the others are those of `load_model`
    """
    model = load_model(trial, device, head=head, pooling=pooling, trust_remote_code=trust_remote_code)
    return model.predict(inputs)


def _spans(given: Raw, tags: Sequence[str], scores: Sequence[float]) -> list[dict[str, Any]]:
    spans = []
    for start, end, kind in tagging.spans(list(tags)):
        span: dict[str, Any] = {"start": start, "end": end, "type": kind}
        if given.words is not None:
            span["start"], span["end"] = given.words[start][0], given.words[end - 1][1]
            span["text"] = given.text[span["start"] : span["end"]]
        spans.append({**span, "score": min(scores[start:end])})
    return spans
