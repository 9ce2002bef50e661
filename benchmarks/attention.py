"""How long `blurb attention` takes for an encoder of BERT's base size, and how large its page is.

    OMP_NUM_THREADS=1 python -m benchmarks.attention [--repeats 3] [--layers 12] [--heads 12]

The encoder has random weights and is read from a disk, as a user's is; the sentence is that of
docs/extensions/attention.md, with an entity and a word.
Imports are made before, by a smaller encoder. Of the repeats the fastest counts.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from pathlib import Path

import torch

from blurb.checkpoints.reading import hide_progress
from blurb.checkpoints.scratch import train_wordpiece
from blurb.extensions.lab.attention import attention

GUIDE = Path(__file__).parents[1] / "docs" / "extensions" / "attention.md"
WIDTH = 64
"""Of a head, as in BERT."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--heads", type=int, default=12)
    given = parser.parse_args()
    hide_progress()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "attention.html"
        shown(encoder(Path(folder) / "small", 1, 1), page)
        large = encoder(Path(folder) / "large", given.layers, given.heads)
        wall, processor = min(shown(large, page) for _ in range(given.repeats))
        print(
            f"{given.layers} layers of {given.heads} heads, {torch.get_num_threads()} threads: {wall:.2f} s after the "
            f"imports ({processor:.2f} s of processor time), page of {page.stat().st_size / 1e6:.2f} MB"
        )


def sentence() -> str:
    """That of the guide."""
    found = re.search(r'--text "([^"]+)" \\\n', GUIDE.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def encoder(folder: Path, layers: int, heads: int) -> Path:
    """A BERT with random weights, and 30,522 entries whatever its vocabulary has."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=WIDTH * heads,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * WIDTH * heads,
    )
    BertModel(config).save_pretrained(folder)
    train_wordpiece([sentence()], 100, min_count=1).save_pretrained(folder)
    return folder


def shown(model: Path, page: Path) -> tuple[float, float]:
    """Seconds of the whole call, weights read and page written: of the clock, and of the processor."""
    started = time.perf_counter(), time.process_time()
    attention(model, sentence(), entity="gastric reflux", word="it", output=page)
    return time.perf_counter() - started[0], time.process_time() - started[1]


if __name__ == "__main__":
    main()
