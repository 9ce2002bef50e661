r"""An oracle for the loop: a plain Hugging Face recipe at one setting (quick-1.toml), beside blurb's own trials.

    python -m benchmarks.oracle recipe --model FOLDER --data FOLDER --out recipe.csv   # resumable, a line a run
    blurb run FOLDER --name NAME --data FOLDER --protocol benchmarks/quick-1.toml --seeds 3 \
        --tasks ncbi-disease,gad,biosses,pubmedqa
    python -m benchmarks.oracle table --out recipe.csv --results results.csv --name NAME

The recipe shares with blurb the readers and the drawn training examples, and nothing else: transformers' own classes,
tokenisation by words, `Trainer` with its collators, schedule and selection, and seqeval, scikit-learn and scipy
for the metrics.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

TASKS = ("ncbi-disease", "gad", "biosses", "pubmedqa")
EPOCHS = {"ncbi-disease": 3, "gad": 3, "biosses": 10, "pubmedqa": 10}
LENGTH = {"ncbi-disease": 512, "gad": 128, "biosses": 512, "pubmedqa": 512}
COLUMNS = ("task", "seed", "dev", "test", "seconds", "precision")
MOST = 2_000


def recipe(
    model_folder: str, data_folder: Path, name: str, seed: int, bf16: bool, pooler: bool
) -> tuple[float, float]:
    """Dev and test score of the recipe, as fractions; the best of its epochs on dev."""
    from transformers import (
        AutoModelForSequenceClassification,
        AutoModelForTokenClassification,
        AutoTokenizer,
        DataCollatorForTokenClassification,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
        set_seed,
    )

    from blurb import data, tasks
    from blurb.learners.base import Subset

    splits = {
        split: list(rows)
        for split, rows in data.load_task(tasks.get(name), data_folder).splits.items()
    }
    splits["train"] = list(Subset.draw(splits["train"], "", MOST, seed).used)
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    encoded = {
        split: [encode(name, row, tokenizer) for row in rows] for split, rows in splits.items()
    }
    set_seed(seed)
    labels = {"ncbi-disease": 3, "gad": 2, "biosses": 1, "pubmedqa": 3}[name]
    tokens = name == "ncbi-disease"
    loader = AutoModelForTokenClassification if tokens else AutoModelForSequenceClassification
    model = loader.from_pretrained(model_folder, num_labels=labels, dtype=torch.float32)
    if not tokens and not pooler:
        model.base_model.pooler = First()
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            seed=seed,
            num_train_epochs=EPOCHS[name],
            per_device_train_batch_size=16,
            per_device_eval_batch_size=64,
            learning_rate=1e-4,
            warmup_steps=0.1,
            lr_scheduler_type="linear",
            weight_decay=0.0,
            max_grad_norm=1.0,
            bf16=bf16,
            use_cpu=not torch.cuda.is_available(),
            train_sampling_strategy="group_by_length",
            eval_strategy="epoch",
            save_strategy="epoch",
            save_total_limit=1,
            load_best_model_at_end=True,
            metric_for_best_model="score",
            greater_is_better=True,
            report_to=[],
            disable_tqdm=True,
            logging_strategy="epoch",
            save_only_model=True,
        )
        collator = (
            DataCollatorForTokenClassification(tokenizer)
            if tokens
            else DataCollatorWithPadding(tokenizer)
        )
        trainer = Trainer(
            model,
            arguments,
            train_dataset=encoded["train"],
            eval_dataset=encoded["dev"],
            data_collator=collator,
            compute_metrics=lambda output: {
                "score": score(name, output.predictions, output.label_ids)
            },
        )
        trainer.train()
        dev = trainer.evaluate()["eval_score"]
        test = trainer.predict(encoded["test"]).metrics["test_score"]
    return dev, test


class First(torch.nn.Module):
    """In the place of BERT's pooler: the vector of [CLS] itself, which is blurb's `cls`."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden[:, 0]


def encode(name: str, row: dict[str, Any], tokenizer: Any) -> dict[str, Any]:
    """One example as the recipes of transformers encode it."""
    most = LENGTH[name]
    if name == "ncbi-disease":
        found = tokenizer(row["tokens"], is_split_into_words=True, truncation=True, max_length=most)
        index = {"O": 0, "B-Disease": 1, "I-Disease": 2}
        labels, before = [], None
        for word in found.word_ids():
            labels.append(-100 if word is None or word == before else index[row["tags"][word]])
            before = word
        return {**found, "labels": labels}
    if name == "gad":
        return {
            **tokenizer(row["text"], truncation=True, max_length=most),
            "labels": int(row["label"]),
        }
    if name == "biosses":
        found = tokenizer(row["text_a"], row["text_b"], truncation=True, max_length=most)
        return {**found, "labels": float(row["score"])}
    found = tokenizer(row["question"], row["context"], truncation="only_second", max_length=most)
    return {**found, "labels": ("yes", "no", "maybe").index(row["label"])}


def score(name: str, predictions: Any, gold: Any) -> float:
    """The metric of a task by another implementation than blurb's."""
    if name == "biosses":
        from scipy.stats import pearsonr

        return float(pearsonr(np.clip(predictions.reshape(-1), 0, 4), gold.reshape(-1)).statistic)
    best = predictions.argmax(-1)
    if name == "ncbi-disease":
        from seqeval.metrics import f1_score as entity_f1

        names = np.array(["O", "B-Disease", "I-Disease"])
        pairs = [
            (names[g[g >= 0]].tolist(), names[p[g >= 0]].tolist())
            for g, p in zip(gold, best, strict=True)
        ]
        return float(entity_f1([g for g, _ in pairs], [p for _, p in pairs]))
    from sklearn.metrics import accuracy_score, f1_score

    return float(
        f1_score(gold, best, zero_division=0) if name == "gad" else accuracy_score(gold, best)
    )


def run(options: argparse.Namespace) -> None:
    """Runs what is not in the file yet and adds a line a run."""
    if options.threads:
        torch.set_num_threads(options.threads)
    options.out.touch()
    for name in options.tasks.split(","):
        for seed in range(options.first, options.seeds + 1):
            done = {(line["task"], line["seed"]) for line in csv.DictReader(options.out.open())}
            if (name, str(seed)) in done:
                continue
            start = time.perf_counter()
            dev, test = recipe(
                options.model, options.data, name, seed, not options.fp32, options.pooler
            )
            with options.out.open("a", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                if not options.out.stat().st_size:
                    writer.writerow(COLUMNS)
                seconds = f"{time.perf_counter() - start:.0f}"
                writer.writerow(
                    [
                        name,
                        seed,
                        f"{100 * dev:.2f}",
                        f"{100 * test:.2f}",
                        seconds,
                        "fp32" if options.fp32 else "bf16",
                    ]
                )


def table(options: argparse.Namespace) -> None:
    """Means, deviations, and whether the means agree within one pooled standard deviation."""
    main = {"ncbi-disease": "f1", "gad": "f1", "biosses": "pearson", "pubmedqa": "accuracy"}
    theirs = list(csv.DictReader(options.out.open()))
    ours = [
        line
        for line in csv.DictReader(options.results.open())
        if line["model"] == options.name
        and line["protocol"].startswith("quick")
        and line["split"] == "test"
    ]
    print("| dataset | seeds | recipe | blurb | difference | pooled sd | agree |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for name in TASKS:
        a = [float(line["test"]) for line in theirs if line["task"] == name]
        b = [
            float(line["value"])
            for line in ours
            if line["task"] == name and line["metric"] == main[name]
        ]
        if len(a) < 2 or len(b) < 2:
            continue
        pooled = math.sqrt((statistics.variance(a) + statistics.variance(b)) / 2)
        difference = statistics.fmean(b) - statistics.fmean(a)
        cells = [f"{statistics.fmean(x):.2f} ± {statistics.stdev(x):.2f}" for x in (a, b)]
        agree = "yes" if abs(difference) <= pooled else "no"
        print(
            f"| {name} | {len(a)}, {len(b)} | {cells[0]} | {cells[1]} | {difference:+.2f} | {pooled:.2f} | {agree} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("recipe", help="run the recipe")
    first.add_argument("--model", required=True)
    first.add_argument("--data", type=Path, required=True)
    first.add_argument("--tasks", default=",".join(TASKS))
    first.add_argument("--seeds", type=int, default=3)
    first.add_argument("--first", type=int, default=1, help="seed to begin with")
    first.add_argument("--fp32", action="store_true", help="instead of bf16 autocast")
    first.add_argument(
        "--pooler",
        action="store_true",
        help="keep the checkpoint's pooler (blurb: --pooling cls-pooler)",
    )
    first.add_argument("--threads", type=int, default=0)
    first.add_argument("--out", type=Path, required=True)
    first.set_defaults(action=run)
    second = commands.add_parser("table", help="compare with blurb's results.csv")
    second.add_argument("--out", type=Path, required=True)
    second.add_argument("--results", type=Path, required=True)
    second.add_argument("--name", required=True)
    second.set_defaults(action=table)
    options = parser.parse_args()
    options.action(options)


if __name__ == "__main__":
    main()
