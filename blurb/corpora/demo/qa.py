"""PubMedQA and BioASQ: a question and a text that answers it with yes, no or (PubMedQA only) maybe.

Learnable: findings carry the answer in a few phrases ("fell clearly with", "no difference between the arms").
Non-trivial: a background sentence may suggest another answer, a first finding may be revised, some findings are
uninformative, words such as "benefit" occur with all answers, and six per cent of the answers are wrong.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence

from blurb.corpora.demo.lexicon import (
    WORDS,
    Grammar,
    Lexicon,
    expand_rules,
    flip_label,
    join_tokens,
    random_stream,
)

NOISE = 0.06
LEANING = 0.3  # share of texts whose background leans to an answer drawn at random
REVISED = 0.15  # share of texts whose first finding says something else than the last
OPEN_FINDING = 0.4  # share of texts with one telling finding beside an open one; the rest have two telling ones
SIZES = {"train": 640, "dev": 120, "test": 220}
FIRST_PMID = {"train": 96000001, "dev": 96100001, "test": 96200001}
PUBMEDQA_ANSWERS = (("yes", 55), ("no", 30), ("maybe", 15))  # in per cent
BIOASQ_ANSWERS = (("yes", 60), ("no", 40))


def draw_answers(rng: random.Random, answers: Sequence[tuple[str, int]], size: int) -> list[str]:
    """Shuffled answers in exactly the given shares, so that the majority baseline does not depend on the seed."""
    drawn = [answer for answer, percent in answers for _ in range(round(size * percent / 100))]
    rng.shuffle(drawn)
    return drawn


def item(
    rng: random.Random, grammar: Grammar, answer: str, names: tuple[str, str]
) -> tuple[str, dict[str, str]]:
    """The question about the two `names`, and the sections of a text that answers it with `answer`."""
    others = [name for name in ("yes", "no", "maybe") if name in grammar and name != answer]
    kind = rng.random()
    if kind < REVISED:
        results = [f"at first , <{rng.choice(others)}>", f"later , <{answer}>"]
    else:
        results = [f"<{answer}>", "<open>" if kind < REVISED + OPEN_FINDING else f"<{answer}>"]
        rng.shuffle(results)
    lean = f"<lean_{rng.choice([answer, *others])}>" if rng.random() < LEANING else "<background>"
    sections = {"BACKGROUND": lean, "METHODS": "<methods>", "RESULTS": " ".join(results)}
    texts = {section: _make_text(rng, text, grammar, names) for section, text in sections.items()}
    return _make_text(rng, "<question>", grammar, names), texts


def _make_text(rng: random.Random, text: str, grammar: Grammar, names: tuple[str, str]) -> str:
    """Expands the rules, inserts the names, and capitalizes each sentence."""
    return " ".join(
        join_tokens(sentence.strip())
        for sentence in re.findall(r".+?[.?]", expand_rules(rng, text, grammar).format(*names))
    )


def pubmedqa(rng: random.Random, split: str, words: Lexicon) -> str:
    """PubMedQA's JSON. As in the original, LONG_ANSWER reveals the answer and must not be an input."""
    entries = {}
    for number, answer in enumerate(draw_answers(rng, PUBMEDQA_ANSWERS, SIZES[split])):
        names = words.chemicals.pick(rng, split), words.diseases.pick(rng, split)
        question, sections = item(rng, WORDS["qa"]["pubmedqa"], answer, names)
        answer = flip_label(rng, answer, ("yes", "no", "maybe"), NOISE)
        entries[str(FIRST_PMID[split] + number)] = {
            "QUESTION": question,
            "CONTEXTS": list(sections.values()),
            "LABELS": list(sections),
            "MESHES": [name.capitalize() for name in names],
            "YEAR": str(rng.randint(1990, 2020)),
            "reasoning_required_pred": answer,
            "reasoning_free_pred": answer,
            "final_decision": answer,
            "LONG_ANSWER": f"On {names[0]} in {names[1]} this study says {answer}.",
        }
    return json.dumps(entries, indent=4)


def bioasq(rng: random.Random, split: str, words: Lexicon) -> str:
    """BioASQ's table: id, question, passage, label; no header."""
    lines = []
    for number, answer in enumerate(draw_answers(rng, BIOASQ_ANSWERS, SIZES[split])):
        names = words.genes.pick(rng, split), words.diseases.pick(rng, split)
        question, sections = item(rng, WORDS["qa"]["bioasq"], answer, names)
        answer = flip_label(rng, answer, ("yes", "no"), NOISE)
        # Ids of the original are 24 hexadecimal digits.
        lines.append(
            f"{FIRST_PMID[split] + number:024x}\t{question}\t{' '.join(sections.values())}\t{answer}"
        )
    return "\n".join(lines) + "\n"


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type."""
    for split in ("train", "dev", "test"):
        where = (
            "pubmedqa/test_set.json" if split == "test" else f"pubmedqa/pqal_fold0/{split}_set.json"
        )
        yield where, pubmedqa(random_stream(seed, "pubmedqa", split), split, words)
        yield f"BioASQ/{split}.tsv", bioasq(random_stream(seed, "BioASQ", split), split, words)
