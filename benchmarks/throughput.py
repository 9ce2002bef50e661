"""Our loop beside the plain Hugging Face recipe, on the same model, sentences, batch size and machine, in one run.

    python -m benchmarks.throughput --model FOLDER --data FOLDER [--task ncbi-disease] [--batches 100]

The recipe is what its documentation shows for token classification: `Trainer`, `DataCollatorForTokenClassification`,
its default optimizer; then with `bf16`, then with `bf16` and batches grouped by length (the tuned recipe). Every
variant trains on the same sentences from the same weights, for two epochs; tokens a second are over the second, as in
the first every longer batch asks the system for more memory and kernels are chosen. On a GPU the clock is read when its
work is done, at the two steps between which it counts, and nowhere else: waiting at every step would hide the time in
which data is prepared while the card computes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import torch

from blurb import data, formulations, tasks
from blurb.checkpoints import ModelSource
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.network import EncoderLearner
from blurb.protocols import protocol
from blurb.training.hardware import has_bf16

EPOCHS = 2


Speed = tuple[float, float]
"""Tokens a second in training and in prediction."""


class Stamps:
    """Times at the ends of steps.

    :param per_epoch: steps of an epoch
    """

    def __init__(self, per_epoch: int) -> None:
        self.per_epoch = per_epoch
        self.times: list[float] = []

    def step(self) -> None:
        """At the end of a step: the GPU is waited for at the first and the last step of the last epoch."""
        done, last = len(self.times) + 1, self.per_epoch * EPOCHS
        if done in (last - self.per_epoch + 1, last):
            wait()
        self.times.append(time.perf_counter())

    def rate(self, total: int) -> float:
        """Tokens a second of the last epoch, without its first step: what happens between two epochs falls into it.

        :param total: tokens of an epoch
        """
        steps = self.per_epoch
        return total * (steps - 1) / steps / (self.times[-1] - self.times[-steps])


def wait() -> None:
    """Waits until the GPU, if there is one, has done what it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds_of(work: Callable[[], object]) -> float:
    """Seconds of the second of two calls."""
    work()
    wait()
    begun = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - begun


def key(rows: list) -> str:
    """The name of some examples in the cache of features, by their content."""
    return f"benchmark {hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:32]}"


def ours(
    source: ModelSource, task: tasks.Task, rows: list, precision: str, batch_size: int
) -> Speed:
    changed = {"lr": 1e-4, "epochs": EPOCHS, "batch_size": batch_size, "select": "last"}
    settings = protocol.load_protocol_file("standard").settings(task, changed, source.parameters)
    formulation = formulations.bind(task, settings)
    learner = EncoderLearner(source, formulation, "auto", precision)
    stamps = Stamps(-(-len(rows) // batch_size))
    units = Subset(rows, key(rows))
    learner.fit(units, Subset(rows[:2], key(rows[:2])), 1, lambda *_: stamps.step())
    total = tokens(learner, rows)
    return stamps.rate(total), total / seconds_of(lambda: learner.predict(units))


def recipe(
    source: ModelSource,
    task: tasks.Task,
    rows: list,
    precision: str,
    grouped: bool,
    batch_size: int,
) -> Speed:
    """The recipe; it predicts in batches of 64 in the order of the data, sorted by length where it is `grouped`."""
    from transformers import (
        AutoModelForTokenClassification,
        AutoTokenizer,
        DataCollatorForTokenClassification,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    # Which the loop asks for, and the recipe does not pay for
    torch.use_deterministic_algorithms(False)
    tokenizer = AutoTokenizer.from_pretrained(source.location)
    formulation = formulations.bind(task)
    targets = formulation.targets(rows)
    examples = []
    for index, row in enumerate(rows):
        encoded = tokenizer(
            row["tokens"], is_split_into_words=True, truncation=True, max_length=512
        )
        labels, before = [], None
        for word in encoded.word_ids():
            labels.append(-100 if word is None or word == before else int(targets[index][word]))
            before = word
        examples.append({**encoded, "labels": labels})
    stamps = Stamps(-(-len(rows) // batch_size))

    class Clock(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, *args: object, **kwargs: object) -> None:
            stamps.step()

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
            bf16=precision == "bf16",
            bf16_full_eval=precision == "bf16",
            fp16=precision == "fp16",
            fp16_full_eval=precision == "fp16",
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
        predicting = seconds_of(lambda: trainer.predict(examples))
    total = sum(len(example["input_ids"]) for example in examples)
    return stamps.rate(total), total / predicting


def tokens(learner: EncoderLearner, rows: list) -> int:
    """Sub-tokens of all sentences, special tokens included, padding not."""
    return int(learner.formulation.features(rows, learner.tokenizer, 512).ids.lengths.sum())


def variants(
    precisions: Sequence[str],
) -> Mapping[str, Callable[[ModelSource, tasks.Task, list, int], Speed]]:
    """Name -> measurement of a source, task, rows and batch size."""
    named: dict[str, Callable[[ModelSource, tasks.Task, list, int], Speed]] = {}
    for precision in precisions:
        named[f"recipe {precision}"] = partial(_recipe, precision=precision, grouped=False)
        if precision != "fp32":
            named[f"recipe {precision}, grouped by length"] = partial(
                _recipe, precision=precision, grouped=True
            )
        named[f"blurb {precision}"] = partial(_ours, precision=precision)
    return named


def _recipe(
    source: ModelSource,
    task: tasks.Task,
    rows: list,
    batch_size: int,
    precision: str,
    grouped: bool,
) -> Speed:
    return recipe(source, task, rows, precision, grouped, batch_size)


def _ours(
    source: ModelSource, task: tasks.Task, rows: list, batch_size: int, precision: str
) -> Speed:
    return ours(source, task, rows, precision, batch_size)


def sentences(task: tasks.Task, folder: Path, count: int | None) -> list:
    """So many sentences of the training set in a fixed order; None for all."""
    train = data.load_task(task, folder, ["train"]).splits["train"].shuffle(seed=1)
    return list(train.select(range(min(count or len(train), len(train)))))


def measure(model: str, folder: Path, name: str, batches: int, batch_size: int) -> dict[str, Speed]:
    """Every variant on the same sentences from the same weights."""
    source, task = building.resolve_model(model), tasks.get(name)
    rows = sentences(task, folder, batches * batch_size)
    bf16 = has_bf16(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    named = variants(("fp32", *["bf16"] * bf16))
    return {name: variant(source, task, rows, batch_size) for name, variant in named.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--task", default="ncbi-disease")
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=16)
    options = parser.parse_args()
    found = measure(options.model, options.data, options.task, options.batches, options.batch_size)
    print(
        f"{options.task}, batch {options.batch_size}, {options.batches} batches, {torch.get_num_threads()} threads"
    )
    print(
        f"{'tokens a second':32} {'training':>9} {'x recipe fp32':>14} {'prediction':>11} {'x':>6}"
    )
    slow = found["recipe fp32"]
    for name, (training, predicting) in found.items():
        print(
            f"{name:32} {training:9.0f} {training / slow[0]:14.2f} {predicting:11.0f} {predicting / slow[1]:6.2f}"
        )


if __name__ == "__main__":
    main()
