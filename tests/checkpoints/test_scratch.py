"""`scratch:tiny` is one checkpoint, wherever it is made. Oracle: the hashes committed here, from other processes."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from blurb.checkpoints import scratch
from tests import checkpoints

WEIGHTS = "559d3a0a6299ad6e7ced0b838c8a74e7b8f37aa09aaf266b2acb54d67cd0bed8"
TOKENIZER = "f35f784fbe299e039f3bf7c861970551bc74512d115b240c950befe3ffd35371"
BUILD = """
from blurb.corpora import demo
from blurb.learners.building import resolve_model
from blurb.checkpoints import scratch
source = resolve_model(str(scratch.build("scratch:tiny", demo.prepare())))
print(source.weights, source.tokenizer)
"""


@pytest.mark.costly
@pytest.mark.parametrize("parallel", ["true", pytest.param("false", marks=pytest.mark.slow)])
def test_the_demo_suite_gives_the_committed_checkpoint_in_every_process(
    tmp_path: Path, parallel: str
) -> None:
    """Whoever changes it raises `scratch.VERSION` and commits the new hashes: all rows of scratch:tiny run again."""
    environment = {**os.environ, "BLURB_HOME": str(tmp_path), "TOKENIZERS_PARALLELISM": parallel}
    found = subprocess.run(
        [sys.executable, "-c", BUILD], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == [WEIGHTS, TOKENIZER]
    assert scratch.VERSION == 2


def test_the_vocabulary_does_not_depend_on_the_order_of_the_texts() -> None:
    """Ties between pairs of pieces are many in made-up text; how they are settled must not follow from the order."""
    texts = checkpoints.texts(seed=3, size=200)
    expected = scratch.vocabulary(texts)
    assert expected[:5] == list(scratch.SPECIAL)
    assert expected[5:] == sorted(expected[5:])
    for seed in range(5):
        assert scratch.vocabulary(random.Random(seed).sample(texts, len(texts))) == expected


def test_the_weights_have_the_scale_of_bert() -> None:
    weights = scratch.weights({**scratch.CONFIG, **scratch.SIZES["tiny"], "vocab_size": 300})
    assert {array.dtype for array in weights.values()} == {np.dtype(np.float32)}
    for name, array in weights.items():
        if name.endswith("LayerNorm.weight"):
            assert (array == 1).all()
        elif name.endswith(".bias"):
            assert (array == 0).all()
        else:
            assert abs(float(array.mean())) < 0.003
            assert float(array.std()) == pytest.approx(0.02, rel=0.1)
            assert float(np.abs(array).max()) < 0.08
    matrices = [array for array in weights.values() if array.ndim == 2]
    assert len({array.tobytes() for array in matrices}) == len(matrices)
    assert (weights["embeddings.word_embeddings.weight"][0] == 0).all()
    # The first number of PCG64(0), which numpy promises to keep, by hand.
    raw = 11749869230777074271
    assert int(np.random.PCG64(0).random_raw()) == raw
    total = sum((raw >> 16 * part) & 0xFFFF for part in range(4))
    scale = 0.02 / (4 * (2**32 - 1) / 12) ** 0.5
    # Alphabetically the first matrix
    first = weights["embeddings.position_embeddings.weight"][0, 0]
    assert first == np.float32((total - 2 * 0xFFFF) * scale)
