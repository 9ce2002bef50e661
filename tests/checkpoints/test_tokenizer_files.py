"""Tokenizers of strangers that would fill the memory, or end the process."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, normalizers, pre_tokenizers

from blurb.checkpoints import Checkpoint, reading
from blurb.checkpoints.tokenizer_files import (
    MOST_GROWTH,
    MOST_STEPS,
    _growth_of_steps,
    iterate_steps,
    read_tokenizer_config,
)
from blurb.messages.errors import ModelError
from tests.checkpoints import refused
from tests.conftest import Builder
from tests.rewriting import rewrite


def replace(letter: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": letter}, "content": content}


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(steps)}


@pytest.mark.parametrize(
    "normalizer",
    [
        replace("e", "e" * (MOST_GROWTH + 1)),
        sequence(*[replace("e", "e" * 100)] * 2),
        sequence(sequence(replace("e", "e" * 40)), {"type": "Prepend", "prepend": "e" * 40}),
        sequence(*[{"type": "ByteLevel"}] * 8),
        sequence(*[{"type": "Replace", "pattern": {"Regex": ""}, "content": "e"}] * 8),
        sequence(*[{"type": "NFKD"}, replace(" ", "ﷺ")] * 8),
    ],
)
def test_replacements_that_would_fill_the_memory(copy: Path, normalizer: dict[str, Any]) -> None:
    rewrite(copy / "tokenizer.json", normalizer=normalizer)
    refused(
        copy,
        r"mine: cannot load the tokenizer: tokenizer.json: its normalizer and pre_tokenizer may make",
    )


def test_steps_without_end(copy: Path) -> None:
    rewrite(
        copy / "tokenizer.json", normalizer=sequence(*[{"type": "Lowercase"}] * (MOST_STEPS + 1))
    )
    refused(copy, r"tokenizer.json has 34 steps; at most 32")


def test_both_parts_count_together(copy: Path) -> None:
    part = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}
    rewrite(
        copy / "tokenizer.json",
        normalizer=sequence(replace("e", "e" * 100)),
        pre_tokenizer={"type": "Sequence", "pretokenizers": [part] * 2},
    )
    with pytest.raises(ModelError, match="may make 6,400 letters of one"):
        read_tokenizer_config(copy)


def bound(step: Any) -> int:
    return _growth_of_steps(list(iterate_steps(json.loads(step.__getstate__()))))


@pytest.mark.parametrize(
    "step",
    [
        normalizers.Replace("e", "ee"),
        normalizers.Sequence([normalizers.Replace("e", "eee")] * 3),
        normalizers.Sequence(
            [
                normalizers.Prepend("eeee"),
                normalizers.Replace("e", "ee"),
                normalizers.Replace("x", ""),
            ]
        ),
        normalizers.Replace(Regex(""), "e"),
    ],
)
def test_the_bound_is_what_the_tokenizer_does(step: Any) -> None:
    """Oracle: what the library makes of one letter that every step replaces."""
    assert bound(step) == len(step.normalize_str("e"))


@pytest.mark.parametrize(
    "step",
    [
        normalizers.ByteLevel(),
        normalizers.Sequence([normalizers.ByteLevel()] * 4),
        normalizers.Sequence([normalizers.Replace(Regex("(?=.)"), "ab")] * 3),
        normalizers.Sequence(
            [normalizers.NFKD(), normalizers.Replace(" ", "ﷺ"), normalizers.NFKD()]
        ),
    ],
)
@pytest.mark.parametrize("letter", ["e", "é", "🙂", "ﷺ"])
def test_no_letter_becomes_more_than_the_bound(step: Any, letter: str) -> None:
    """But for the first form of Unicode, which makes 18 of one at most."""
    assert len(step.normalize_str(letter)) <= 18 * bound(step)


@pytest.mark.parametrize("letter", ["e", "é", "🙂"])
def test_no_letter_becomes_more_before_it_is_cut(letter: str) -> None:
    step = pre_tokenizers.Sequence(
        [pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)] * 3
    )
    assert sum(len(word) for word, _ in step.pre_tokenize_str(letter)) <= bound(step)


def test_a_table_of_replacements_counts_by_its_longest() -> None:
    trie = bytes(12)
    table = base64.b64encode(
        len(trie).to_bytes(4, "little") + trie + b"fi\0" + b"x" * 70 + b"\0y\0"
    ).decode()
    assert _growth_of_steps([{"type": "Precompiled", "precompiled_charsmap": table}]) == 70
    assert (
        _growth_of_steps([{"type": "Precompiled", "precompiled_charsmap": "no base64 at all"}]) == 1
    )


def test_a_vocabulary_of_gigabytes_is_not_read(copy: Path) -> None:
    with (copy / "vocab.txt").open("wb") as file:
        file.truncate(10 * 2**30)
    refused(copy, r"cannot load the tokenizer: vocab.txt has 10,737,418,240 bytes")


def test_a_tokenizer_alone_is_looked_at_as_well(copy: Path, checkpoint: Builder) -> None:

    rewrite(copy / "tokenizer.json", normalizer=sequence(*[{"type": "ByteLevel"}] * 8))
    with pytest.raises(ModelError, match="letters of one"):
        _ = Checkpoint(copy).tokenizer  # as `blurb vocab` does
    refused(checkpoint("bert_uncased"), "letters of one", tokenizer=copy)


def test_a_file_that_is_far_too_long_is_not_read(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 4000)
    refused(copy, r"tokenizer.json has [\d,]+ bytes; at most 4,000 are read")


def test_a_pattern_that_gives_up_on_a_text(copy: Path) -> None:
    """Onigmo stops after ten million steps, and Rust panics, which `except Exception` does not catch."""

    pattern = {"Regex": "(a|a)*b|(a+a+)+$|((a*)*)*c"}
    rewrite(
        copy / "tokenizer.json",
        pre_tokenizer={
            "type": "Split",
            "pattern": pattern,
            "behavior": "Isolated",
            "invert": False,
        },
    )
    # The class of BERT has steps of its own, whatever the file says.
    (copy / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"})
    )
    tokenizer = Checkpoint(copy).tokenizer
    for read in (tokenizer.subtokens, tokenizer.counted):
        with pytest.raises(ModelError, match=r"mine gives up on a text: .*retry-limit"):
            read(["a" * 60 + "d"])
