"""`baseline:dictionary`: finds the mentions of train again, and learns nothing."""

from __future__ import annotations

from collections.abc import Sequence

from blurb.checkpoints.source import ModelSource
from blurb.data.seen import Mentions
from blurb.formulations._base import Formulation, Output
from blurb.inputs import tagging
from blurb.learners.base import History, Learner, Progress, Subset
from blurb.messages import SettingsError, opt
from blurb.protocols.settings import Where, unknown_origin


def check(source: ModelSource, formulation: Formulation, where: Where = unknown_origin) -> None:
    """Raises a SettingsError for a task whose examples have no mentions."""
    if formulation.kind != "tokens":
        raise SettingsError(
            "baseline:dictionary finds mentions of NER and PICO; {task} has none",
            fix=f"choose tasks that have: {opt('tasks', 'ner,pico')}.",
            task=formulation.task.name,
        )


class Dictionary(Learner):
    """Predicts the longest mention of train that begins at a word, from the left; the case of letters is ignored.

    Matches neither overlap nor leave their sentence. A string of several types gets the one of most mentions in train,
    and of equally many the first of the task's labels.
    """

    types: dict[str, str]
    longest: dict[str, int]
    """First word of a string -> the most words of one that begins with it: few words begin any."""

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        task = self.formulation.task
        place = {label: number for number, label in enumerate(task.labels)}
        self.types = {
            string: min(counts, key=lambda kind: (-counts[kind], place[kind]))
            for string, counts in Mentions(task, train.used).strings.items()
        }
        self.longest = {}
        for string in self.types:
            first, *others = string.split(" ")
            self.longest[first] = max(self.longest.get(first, 0), 1 + len(others))
        self.facts["strings"] = len(self.types)
        return []

    def predict(self, units: Subset) -> Output:
        scheme = "bio" if self.formulation.task.task_type.borders else "io"
        return [
            tagging.tags(self.find(unit["tokens"]), len(unit["tokens"]), scheme)
            for unit in units.used
        ], None

    def find(self, tokens: Sequence[str]) -> list[tagging.Span]:
        """The mentions in a sentence, from the left."""
        words = [word.lower() for word in tokens]
        spans: list[tagging.Span] = []
        start = 0
        while start < len(words):
            longest = self.longest.get(words[start].split(" ")[0], 0)
            ends = range(min(start + longest, len(words)), start, -1)
            end = next((end for end in ends if " ".join(words[start:end]) in self.types), None)
            if end is not None:
                spans.append(tagging.Span(start, end, self.types[" ".join(words[start:end])]))
            start = start + 1 if end is None else end
        return spans
