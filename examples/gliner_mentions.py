"""Finds entities with GLiNER, without training, and writes them as blurb score reads them.

GLiNER needs an older transformers than blurb, so it has an environment of its own:

    python -m venv gliner && gliner/bin/pip install gliner
    blurb data export --tasks ncbi-disease --data DATA --out exported
    gliner/bin/python gliner_mentions.py exported/ncbi-disease/dev.jsonl --labels Disease=disease --out dev.jsonl
    blurb score --task ncbi-disease --predictions dev.jsonl --split dev --data DATA

Choose the threshold on dev, then write and score test.jsonl with it. Give all labels of the dataset.
"""

import argparse
import json
from pathlib import Path

from gliner import GLiNER

parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
parser.add_argument("examples", type=Path)
parser.add_argument("--out", type=Path, required=True)
parser.add_argument(
    "--labels",
    nargs="+",
    metavar="LABEL=WORDS",
    required=True,
    help="a label, and the words for it",
)
parser.add_argument("--model", default="Ihor/gliner-biomed-large-v1.0")
parser.add_argument("--threshold", type=float, default=0.5)
given = parser.parse_args()
labels = {words: label for label, _, words in (pair.partition("=") for pair in given.labels)}
model = GLiNER.from_pretrained(given.model)
with given.out.open("w", encoding="utf-8") as file:
    for line in given.examples.open(encoding="utf-8"):
        row = json.loads(line)
        found = model.predict_entities(
            " ".join(row["tokens"]), [*labels], threshold=given.threshold
        )
        found.sort(key=lambda entity: entity["start"])
        mentions = [{"text": entity["text"], "type": labels[entity["label"]]} for entity in found]
        file.write(json.dumps({"id": row["id"], "mentions": mentions}, ensure_ascii=False) + "\n")
