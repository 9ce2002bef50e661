"""The training of an encoder: transformers' Trainer with our inputs and our loss, and how well it fills gaps.

Checkpoints are complete or not there. Quality is bits per byte of text, which are comparable between vocabularies, as
losses are not: a part of the words of held-out documents is masked, once and for all; the words are the same for every
vocabulary. The pseudo-log-likelihood of their sub-tokens (Salazar et al. 2020, here many words at a time) is divided by
their bytes.
"""

from __future__ import annotations

import math
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
)

from blurb.checkpoints.reading import errors_alone
from blurb.extensions.lab.pretraining.inputs import IGNORED, Bools, PretrainingInputs, Stream, cut
from blurb.messages import format_duration, notify
from blurb.system.files import SEAL, damaged_files, read_json, seal_folder, write_json
from blurb.system.process import one_process

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def loss(model: Any, inputs: Mapping[str, torch.Tensor], bf16: bool = False) -> torch.Tensor:
    """The mean cross entropy of the predicted sub-tokens, and with `next_sentence_label` that of the pairs added.

    The decoder of BERT is a product with the whole vocabulary, for every sub-token; 85 % of these are not predicted, so
    their hidden states are left out before it. Other architectures compute their own loss, which is the same.

    :param inputs: `input_ids` and `labels` of shape (batch, length), with `IGNORED` where nothing is predicted
    :param bf16: whether products are in bf16; the Trainer's own setting is around `model.forward` alone, which is not
        called here
    """
    body = {
        name: value
        for name, value in inputs.items()
        if name not in ("labels", "next_sentence_label")
    }
    with torch.autocast(inputs["input_ids"].device.type, dtype=torch.bfloat16, enabled=bf16):
        if not hasattr(model, "bert"):
            # Not `model(...)`: a Trainer leaves its own autocast in the instance, and the measurement would be in bf16.
            return type(model).forward(model, **body, labels=inputs["labels"]).loss  # type: ignore[no-any-return]
        output = model.bert(**body)
        places = inputs["labels"] != IGNORED
        scores = model.cls.predictions(output.last_hidden_state[places])
        total = cross_entropy(scores.float(), inputs["labels"][places])
        if "next_sentence_label" in inputs:
            pairs = model.cls.seq_relationship(output.pooler_output)
            total = total + cross_entropy(pairs.float(), inputs["next_sentence_label"])
        return total


def flops(model: Any, inputs: Mapping[str, torch.Tensor]) -> int:
    """Operations of the products of an update, forwards and backwards, as torch counts them: a multiply-add is two.

    With products of their own in the attention: torch counts nothing in the fused kernel of a CPU.
    """
    used = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with FlopCounterMode(display=False) as counter:
        loss(model, inputs).backward()  # type: ignore[no-untyped-call]
    model.zero_grad()
    model.set_attn_implementation(used)
    return int(counter.get_total_flops())


RATE = 0.15
SEED = 20_240_101
BATCH = 64


def masked(held_out: Stream) -> Bools:
    """The sub-tokens of the masked words; which words, no vocabulary decides."""
    inside = held_out.ids != held_out.separator
    real = held_out.starts & inside
    drawn = np.random.default_rng(SEED).random(int(real.sum())) < RATE
    places = np.zeros(len(held_out.ids), dtype=np.bool_)
    places[inside] = drawn[(np.cumsum(real) - 1)[inside]]
    return places


def bits_per_byte(
    model: Any, tokenizer: PreTrainedTokenizerBase, held_out: Stream, length: int
) -> float:
    """The bits per byte of an encoder that sees all sub-tokens but the masked ones."""
    places, slices = _masked_inputs(held_out, length)
    device = model.device
    model.eval()
    nats = 0.0
    for begin in range(0, len(slices), BATCH):
        rows, labels = [], []
        for each in slices[begin : begin + BATCH]:
            own, hidden = held_out.ids[each].astype(np.int64), places[each]
            seen = np.where(hidden, tokenizer.mask_token_id, own)
            rows.append([tokenizer.cls_token_id, *seen, held_out.separator])
            labels.append([IGNORED, *np.where(hidden, own, IGNORED), IGNORED])
        batch = {
            "input_ids": torch.tensor(np.asarray(rows), device=device),
            "labels": torch.tensor(np.asarray(labels), device=device),
        }
        if count := int((batch["labels"] != IGNORED).sum()):
            with torch.inference_mode():
                nats += count * float(loss(model, batch))
    model.train()
    return nats / math.log(2) / int(held_out.sizes[places].sum())


def measure(
    model: Any, tokenizer: PreTrainedTokenizerBase, learnt: Stream, held_out: Stream, length: int
) -> dict[str, float]:
    """Bits per byte of the masked words of the held-out text, and the number of these words.

    Of the encoder (`model`); of the frequencies of the sub-tokens in the text that was learnt from, the plateau that
    every encoder reaches first; of the sub-token before (`pairs`, bigrams), mixed with the frequencies.

    :param learnt: the text of the pretraining
    :param length: sub-tokens of an input
    """
    places, _ = _masked_inputs(held_out, length)
    size = int(held_out.sizes[places].sum())
    frequencies, bigrams = _baselines(learnt, held_out, places, len(tokenizer))
    return {
        "model": bits_per_byte(model, tokenizer, held_out, length),
        "frequencies": frequencies / size,
        "pairs": bigrams / size,
        "words": int((held_out.starts & places).sum()),
    }


def _masked_inputs(held_out: Stream, length: int) -> tuple[Bools, Sequence[slice]]:
    """The masked places, and the inputs; what is left at the end of the text is in none."""
    places, slices = masked(held_out), cut(held_out, length)
    places[slices[-1].stop :] = False
    return places, slices


def _baselines(
    learnt: Stream, held_out: Stream, places: Bools, entries: int
) -> tuple[float, float]:
    """Bits under the frequencies (one added to each count), and under those after the sub-token before.

    The two are mixed as Witten and Bell do (1991): an entry with few or many followers is believed accordingly.
    """
    counts = np.bincount(learnt.ids, minlength=entries) + 1.0
    single = counts / counts.sum()
    pairs = Counter(zip(learnt.ids[:-1].tolist(), learnt.ids[1:].tolist(), strict=True))
    followers, kinds = np.zeros(entries), np.zeros(entries)
    for (before, _), count in pairs.items():
        followers[before] += count
        kinds[before] += 1
    frequencies = bigrams = 0.0
    for place in np.flatnonzero(places).tolist():
        now, before = (
            int(held_out.ids[place]),
            int(held_out.ids[place - 1]) if place else held_out.separator,
        )
        weight = kinds[before] / (kinds[before] + followers[before]) if kinds[before] else 1.0
        after = pairs.get((before, now), 0) / followers[before] if followers[before] else 0.0
        frequencies -= math.log2(single[now])
        bigrams -= math.log2(weight * single[now] + (1 - weight) * after)
    return frequencies, bigrams


CHECKPOINTS = "checkpoints"
SECONDS = 300
"""Between two checkpoints to resume from."""
PER_DECADE = (1, 2, 5)
"""Checkpoints that stay, spaced by equal factors: early ones differ most."""
SAVED = "checkpoint-"
NAME = re.compile(rf"{SAVED}([1-9][0-9]{{0,14}})", re.ASCII)
QUALITY = "quality.json"
"""Beside a checkpoint that stays; `blurb series` draws its figures."""
MOMENTS = ("optimizer.pt", "scheduler.pt")
"""Files that a Trainer needs beside the weights to go on; without them it starts its schedule anew, silently."""
SPENT = "seconds.json"
"""In every checkpoint: the seconds of training until then, those before a kill included."""


def kept_updates(updates: int, every: int) -> set[int]:
    """The updates after which a checkpoint stays, the last one included: 1, 2, 5, 10, ..., and each `every`-th."""
    decades = range(int(math.log10(updates)) + 1)
    steps = {step * 10**decade for decade in decades for step in PER_DECADE}
    further = range(every, updates, every) if every else ()
    return {updates, *further, *(step for step in steps if step < updates)}


def last_complete(folder: Path) -> Path | None:
    """The newest checkpoint whose seal is right; what a kill left behind is removed.

    Those that stay have no moments of the optimizer any more, so nothing goes on from them: None if they are all there
    is, as after a damage to the newest.
    """
    saved = sorted(_saved(folder).items())
    for _, path in reversed(saved):
        if damaged_files(path):
            shutil.rmtree(path)
        elif all((path / name).is_file() for name in MOMENTS):
            return path
    if saved:
        notify(f"{folder} has no checkpoint to go on from: the pretraining starts anew.")
    return None


def _saved(folder: Path) -> dict[int, Path]:
    """Step -> checkpoint; a folder of another name, such as somebody's copy, is none of ours."""
    matches = ((NAME.fullmatch(path.name), path) for path in folder.glob(f"{SAVED}*"))
    return {int(match[1]): path for match, path in matches if match and path.is_dir()}


class _Saving(TrainerCallback):  # type: ignore[misc]
    """When a checkpoint is written; it is sealed after, and the one before goes unless it is to stay."""

    def __init__(
        self, updates: int, every: int, measure: Callable[[Any], float], before: float
    ) -> None:
        self.before = before
        self.kept = kept_updates(updates, every)
        self.measure = measure
        self.begun = self.last = time.monotonic()

    @property
    def seconds(self) -> float:
        """Of training, those before a kill included; what a kill undid does not count."""
        return round(self.before + time.monotonic() - self.begun, 1)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        if state.global_step in self.kept or time.monotonic() - self.last > SECONDS:
            control.should_save = True
            self.last = time.monotonic()
        return control

    def on_save(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        saved = _saved(Path(args.output_dir))
        newest = saved.pop(state.global_step)
        write_json(newest / SPENT, {"seconds": self.seconds})
        if state.global_step in self.kept:
            write_json(newest / QUALITY, {"bits per byte": round(self.measure(model), 6)})
        seal_folder(newest)
        for step, path in saved.items():
            if step not in self.kept:
                shutil.rmtree(path)
            elif (path / MOMENTS[0]).is_file():  # only the newest is gone on from
                # Out of the seal, too: the other files are neither read nor sealed again.
                sealed = read_json(path / SEAL)
                del sealed["sha256"][MOMENTS[0]]
                write_json(path / SEAL, sealed)
                (path / MOMENTS[0]).unlink()


class _Progress(TrainerCallback):  # type: ignore[misc]
    """A line to stderr for each logged loss; the epochs in the Trainer's own are of the budget, not of the text."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.begun, self.first = time.monotonic(), state.global_step

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any
    ) -> None:
        done, open_ = state.global_step - self.first, state.max_steps - state.global_step
        if logs is not None and "loss" in logs and done:
            text = f"update {state.global_step:,} of {state.max_steps:,}: loss {float(logs['loss']):.3f}"
            if open_:
                seconds = (time.monotonic() - self.begun) / done * open_
                text += f"; about {format_duration(seconds)} left"
            print(text, file=sys.stderr, flush=True)


class _Pretraining(Trainer):  # type: ignore[misc]
    """The loss at the predicted places."""

    def compute_loss(
        self,
        model: Any,
        inputs: Mapping[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        value = loss(model, inputs, self.args.bf16)
        return (value, None) if return_outputs else value


@one_process()  # no launcher decides about the updates that a recipe counts
def train(
    model: Any,
    inputs: PretrainingInputs,
    folder: Path,
    bf16: bool,
    measure: Callable[[Any], float],
    every: int = 0,
    progress: bool = True,
    callbacks: Sequence[TrainerCallback] = (),
) -> float:
    """Trains in a folder, from its last complete checkpoint on; returns the seconds, those before a kill included.

    :param folder: of the checkpoints
    :param measure: bits per byte of the encoder on held-out text, written beside each checkpoint that stays
    :param progress: whether losses and the time that is left are told on stderr, a hundred times
    :param callbacks: of the Trainer, beside that which saves
    :param every: updates between further checkpoints that stay; 0 for none but the logarithmic ones
    :param bf16: whether products are in bf16; weights and moments are always fp32
    """
    recipe = inputs.recipe
    updates = inputs.updates
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=updates,
        per_device_train_batch_size=recipe.batch,
        learning_rate=recipe.lr,
        weight_decay=recipe.weight_decay,
        adam_beta2=0.98,
        adam_epsilon=1e-6,
        max_grad_norm=0.5,
        lr_scheduler_type="linear",
        warmup_steps=max(1, round(recipe.warmup * updates)),
        bf16=bf16,
        use_cpu=not torch.cuda.is_available(),
        save_strategy="no",
        logging_steps=max(1, updates // 100),
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_drop_last=True,
        train_sampling_strategy="sequential",  # the inputs have drawn their order themselves
        seed=recipe.seed,
    )
    # Of several GPUs each would take a batch, and the budget be multiplied.
    arguments._n_gpu = min(1, arguments.n_gpu)
    last, spent = last_complete(folder), 0.0
    if last is not None and (last / SPENT).is_file():  # else of a release without it
        spent = float(read_json(last / SPENT)["seconds"])
    saving = _Saving(updates, every, measure, spent)
    trainer = _Pretraining(
        model=model,
        args=arguments,
        train_dataset=inputs,
        processing_class=inputs.tokenizer,
        callbacks=[saving, *([_Progress()] if progress else []), *callbacks],
        data_collator=default_data_collator,
    )
    trainer.remove_callback(PrinterCallback)
    with errors_alone():  # the decoder's weights are those of the embeddings, and not stored twice
        trainer.train(resume_from_checkpoint=None if last is None else str(last))
    return saving.seconds
