"""Our loop beside the plain Hugging Face recipe, on the same model, sentences, batch size and machine, in one run.

    python benchmarks/throughput.py --model FOLDER --data FOLDER [--task ncbi-disease] [--batches 100]

The recipe is what its documentation shows for token classification: `Trainer`, `DataCollatorForTokenClassification`,
its default optimizer; then with `bf16`, then with `bf16` and batches grouped by length. Every variant trains on the
same sentences from the same weights, for two epochs; tokens a second are over the second, as in the first every longer
batch asks the system for more memory and kernels are chosen. The seconds of an epoch follow from them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

from blurb import data, formulations, tasks
from blurb.checkpoints import Source
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.encoder import EncoderLearner
from blurb.protocols import protocol
from blurb.training.hardware import has_bf16

EPOCHS = 2


Speed = tuple[float, float]
"""Tokens a second in training and in prediction."""


def ours(source: Source, task: tasks.Task, rows: list, precision: str, batch_size: int) -> Speed:
    changed = {"lr": 1e-4, "epochs": EPOCHS, "batch_size": batch_size, "select": "last"}
    settings = protocol.load("standard").settings(task, changed, source.parameters)
    formulation = formulations.bind(task, settings)
    learner = EncoderLearner(source, formulation, "auto", precision)
    times: list[float] = []
    units = Subset(rows, f"throughput {len(rows)}")
    learner.fit(units, Subset(rows[:2], "throughput 2"), 1, lambda *_: times.append(time.perf_counter()))
    total = tokens(learner, rows)
    learner.predict(units)
    begun = time.perf_counter()
    learner.predict(units)
    return rate(times, total), total / (time.perf_counter() - begun)


def recipe(source: Source, task: tasks.Task, rows: list, bf16: bool, grouped: bool, batch_size: int) -> Speed:
    """The recipe; it predicts in batches of 64 in the order of the data, sorted by length where it is `grouped`."""
    from transformers import (
        AutoModelForTokenClassification,
        AutoTokenizer,
        DataCollatorForTokenClassification,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    tokenizer = AutoTokenizer.from_pretrained(source.location)
    formulation = formulations.bind(task)
    targets = formulation.targets(rows)
    examples = []
    for index, row in enumerate(rows):
        encoded = tokenizer(row["tokens"], is_split_into_words=True, truncation=True, max_length=512)
        labels, before = [], None
        for word in encoded.word_ids():
            labels.append(-100 if word is None or word == before else int(targets[index][word]))
            before = word
        examples.append({**encoded, "labels": labels})
    times: list[float] = []

    class Clock(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, *args: object, **kwargs: object) -> None:
            times.append(time.perf_counter())

    torch.manual_seed(1)
    model = AutoModelForTokenClassification.from_pretrained(
        source.location, num_labels=len(formulation.labels), dtype=torch.float32
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=EPOCHS,
            per_device_train_batch_size=batch_size,
            learning_rate=1e-4,
            bf16=bf16,
            bf16_full_eval=bf16,
            per_device_eval_batch_size=64,
            use_cpu=not torch.cuda.is_available(),
            train_sampling_strategy="group_by_length" if grouped else "random",
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            logging_strategy="no",
        )
        trainer = Trainer(
            model,
            arguments,
            train_dataset=examples,
            data_collator=DataCollatorForTokenClassification(tokenizer),
            callbacks=[Clock()],
        )
        trainer.train()
        if grouped:
            examples = sorted(examples, key=lambda example: len(example["input_ids"]))
        trainer.predict(examples)
        begun = time.perf_counter()
        trainer.predict(examples)
        predicting = time.perf_counter() - begun
    total = sum(len(example["input_ids"]) for example in examples)
    return rate(times, total), total / predicting


def tokens(learner: EncoderLearner, rows: list) -> int:
    """Sub-tokens of all sentences, special tokens included, padding not."""
    return int(learner.formulation.features(rows, learner.tokenizer, 512).ids.lengths.sum())


def rate(times: list[float], total: int) -> float:
    """Tokens a second of the last epoch, from the times at the ends of all steps; its first step is left out, as what
    happens between two epochs falls into it."""
    steps = len(times) // EPOCHS
    return total * (steps - 1) / steps / (times[-1] - times[-steps])


def measure(model: str, folder: Path, name: str, batches: int, batch_size: int) -> dict[str, Speed]:
    """Every variant on the same sentences from the same weights."""
    source, task = building.resolve(model), tasks.get(name)
    train = data.load(task, folder, ["train"]).splits["train"]
    rows = list(train.shuffle(seed=1).select(range(batches * batch_size)))
    variants = {
        "recipe fp32": lambda: recipe(source, task, rows, False, False, batch_size),
        "blurb fp32": lambda: ours(source, task, rows, "fp32", batch_size),
    }
    if has_bf16(torch.device("cuda" if torch.cuda.is_available() else "cpu")):
        variants |= {
            "recipe bf16": lambda: recipe(source, task, rows, True, False, batch_size),
            "recipe bf16, grouped by length": lambda: recipe(source, task, rows, True, True, batch_size),
            "blurb bf16": lambda: ours(source, task, rows, "bf16", batch_size),
        }
    return {name: variant() for name, variant in variants.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--task", default="ncbi-disease")
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=16)
    options = parser.parse_args()
    found = measure(options.model, options.data, options.task, options.batches, options.batch_size)
    print(f"{options.task}, batch {options.batch_size}, {options.batches} batches, {torch.get_num_threads()} threads")
    print(f"{'tokens a second':32} {'training':>9} {'x recipe fp32':>14} {'prediction':>11} {'x':>6}")
    slow = found["recipe fp32"]
    for name, (training, predicting) in found.items():
        print(f"{name:32} {training:9.0f} {training / slow[0]:14.2f} {predicting:11.0f} {predicting / slow[1]:6.2f}")


if __name__ == "__main__":
    main()
