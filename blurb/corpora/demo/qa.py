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

from blurb.corpora.demo.lexicon import Grammar, Lexicon, expand, flip, plain, stream

NOISE = 0.06
LEANING = 0.3  # share of texts whose background leans to an answer drawn at random
REVISED = 0.15  # share of texts whose first finding says something else than the last
OPEN_FINDING = 0.4  # share of texts with one telling finding beside an open one; the rest have two telling ones
PUBMEDQA_SIZES = {"train": 640, "dev": 120, "test": 220}
BIOASQ_SIZES = {"train": 640, "dev": 120, "test": 220}
FIRST_PMID = {"train": 96000001, "dev": 96100001, "test": 96200001}
PUBMEDQA_ANSWERS = (("yes", 55), ("no", 30), ("maybe", 15))  # in per cent
BIOASQ_ANSWERS = (("yes", 60), ("no", 40))

# {0} is the treatment (BioASQ: the gene) that the question names, {1} the disease.
PUBMEDQA: Grammar = {
    "question": (
        "does {0} help in {1} ?",
        "is {0} of use against {1} ?",
        "can {0} prevent {1} ?",
        "does {0} change the course of {1} ?",
        "should {0} be offered for {1} ?",
    ),
    "background": ("{1} is common in <host> .", "we studied {0} <site> .", "care of {1} is costly ."),
    "methods": (
        "<count> <host> received {0} or a placebo .",
        "records of <count> <host> were read <site> .",
        "we followed <count> <host> with {1} .",
    ),
    "lean_yes": ("early reports on {0} were promising .", "many wards already use {0} ."),
    "lean_no": ("early reports on {0} were poor .", "many wards have given up {0} ."),
    "lean_maybe": ("early reports on {0} disagreed .", "the wards are divided over {0} ."),
    "yes": (
        "{1} fell clearly with {0} .",
        "relapse was halved by {0} .",
        "{0} gave a lasting benefit .",
        "{0} outdid the placebo .",
        "symptoms of {1} cleared early .",
    ),
    "no": (
        "{1} was as frequent with {0} .",
        "there was no difference between the arms .",
        "{0} gave no benefit .",
        "the placebo did as well as {0} .",
        "symptoms of {1} stayed .",
    ),
    "maybe": (
        "the arms were too small to tell .",
        "{0} helped some but not others .",
        "the interval was wide .",
        "symptoms of {1} came and went .",
    ),
    "open": ("{0} was well liked .", "the <organ> was spared .", "no one left the study .", "costs were low ."),
}
BIOASQ: Grammar = {
    "question": (
        "is {0} involved in {1} ?",
        "are mutations of {0} found in {1} ?",
        "is {0} a target for {1} ?",
        "does {0} play a part in {1} ?",
    ),
    "background": ("{0} is expressed in the <organ> .", "{1} affects the <organ> .", "{0} was mapped <site> ."),
    "methods": ("<count> <host> with {1} were sequenced .", "{0} was deleted in <host> .", "we stained the <organ> ."),
    "lean_yes": ("a role of {0} had been suspected .", "{0} looked like a good candidate ."),
    "lean_no": ("a role of {0} had been doubted .", "{0} looked like a poor candidate ."),
    "yes": (
        "loss of {0} caused {1} .",
        "{0} variants were enriched .",
        "blocking {0} cured the <host> .",
        "{0} drives this disease .",
        "families shared a {0} deletion .",
    ),
    "no": (
        "loss of {0} had no effect .",
        "{0} variants were not enriched .",
        "blocking {0} cured none of the <host> .",
        "{0} is dispensable for {1} .",
        "families had an intact {0} .",
    ),
    "open": ("{0} has a paralogue .", "antibodies against {0} are sold .", "staining was even ."),
}


def draw_answers(rng: random.Random, answers: Sequence[tuple[str, int]], size: int) -> list[str]:
    """Shuffled answers in exactly the given shares, so that the majority baseline does not depend on the seed."""
    drawn = [answer for answer, percent in answers for _ in range(round(size * percent / 100))]
    rng.shuffle(drawn)
    return drawn


def item(rng: random.Random, grammar: Grammar, answer: str, names: tuple[str, str]) -> tuple[str, dict[str, str]]:
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
    texts = {section: _text(rng, text, grammar, names) for section, text in sections.items()}
    return _text(rng, "<question>", grammar, names), texts


def _text(rng: random.Random, text: str, grammar: Grammar, names: tuple[str, str]) -> str:
    """Expands the rules, inserts the names, and capitalizes each sentence."""
    return " ".join(
        plain(sentence.strip()) for sentence in re.findall(r".+?[.?]", expand(rng, text, grammar).format(*names))
    )


def pubmedqa(rng: random.Random, split: str, words: Lexicon) -> str:
    """PubMedQA's JSON. As in the original, LONG_ANSWER reveals the answer and must not be an input."""
    entries = {}
    for number, answer in enumerate(draw_answers(rng, PUBMEDQA_ANSWERS, PUBMEDQA_SIZES[split])):
        names = words.chemicals.pick(rng, split), words.diseases.pick(rng, split)
        question, sections = item(rng, PUBMEDQA, answer, names)
        answer = flip(rng, answer, ("yes", "no", "maybe"), NOISE)
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
    for number, answer in enumerate(draw_answers(rng, BIOASQ_ANSWERS, BIOASQ_SIZES[split])):
        names = words.genes.pick(rng, split), words.diseases.pick(rng, split)
        question, sections = item(rng, BIOASQ, answer, names)
        answer = flip(rng, answer, ("yes", "no"), NOISE)
        # Ids of the original are 24 hexadecimal digits.
        lines.append(f"{FIRST_PMID[split] + number:024x}\t{question}\t{' '.join(sections.values())}\t{answer}")
    return "\n".join(lines) + "\n"


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type."""
    for split in ("train", "dev", "test"):
        where = "pubmedqa/test_set.json" if split == "test" else f"pubmedqa/pqal_fold0/{split}_set.json"
        yield where, pubmedqa(stream(seed, "pubmedqa", split), split, words)
        yield f"BioASQ/{split}.tsv", bioasq(stream(seed, "BioASQ", split), split, words)
