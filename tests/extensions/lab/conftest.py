"""A small pretraining on the texts of the demo suite."""

import pytest

from blurb.corpora import demo
from blurb.extensions.lab.pretraining import task_texts
from blurb.extensions.lab.pretraining.recipe import Recipe
from blurb.extensions.lab.pretraining.request import PretrainingCorpus, collect

SMALL = Recipe(vocabulary=500, words=3_000, length=32, batch=8)


@pytest.fixture(scope="session")
def corpus() -> PretrainingCorpus:
    return collect(task_texts.read_train(demo.prepare())[0], None)
