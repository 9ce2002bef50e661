"""ChemProt, DDI and GAD: what does a sentence say about its two masked entities?

Learnable: each label has cue phrases of its own ("blunted", "is converted by"). Not trivial: some cues serve two labels
and a second word decides; a sentence may hold the cue for another entity than the masked one, and makes one row for
each; overlapping pairs are negative whatever is said of them; four labels in a hundred are wrong.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from blurb.data.demo.lexicon import Grammar, Lexicon, expand, fill, flip, plain, stream

NOISE = 0.04  # share of rows with a wrong label
RIVAL = 0.18  # share of sentences that name a second, unrelated entity and make two rows
OVERLAP = 25  # each 25th sentence has two entities that share their words (a count: no split may lack them)

GRAMMAR: Grammar = {
    "frame": ("<open> , {0} {cue} {1} <tail> .", "{0} <aside> {cue} {1} <tail> .", "we saw that {0} {cue} {1} <tail> .",
              "of {1} and {0} , the latter {cue} the former <tail> ."),
    "rival": ("{0} {cue} {1} , while {2} {none} it .", "<open> , {2} {none} {1} , whereas {0} {cue} it ."),
    "aside": ("", ", given alone ,", ", at all doses ,", "<site>", "in <host>"),
    "tail": ("", "<when>", "<site>", "in <count> <host>", "in the <organ>"),
}  # fmt: skip


@dataclass(frozen=True)
class Corpus:
    """One dataset: masks of its two entities, terminals of names beside them, cues by label, sizes of the splits."""

    name: str
    masks: tuple[str, str]
    overlap: str | None
    names: tuple[str, str]
    cues: Mapping[str, Sequence[str]]
    negative: str
    none: Sequence[str]
    negatives: float
    sizes: tuple[int, int, int]


CORPORA = (
    Corpus(
        name="chemprot",
        masks=("@CHEMICAL$", "@GENE$"),
        overlap="@CHEM-GENE$",
        names=("<CHEM>", "<GENE>"),
        cues={
            "CPR:3": ("induced", "boosted", "switched on", "raised the output of", "shifted , upwards ,"),
            "CPR:4": ("blunted", "suppressed", "blocked", "cut the output of", "shifted , downwards ,"),
            "CPR:5": ("is an agonist at", "mimicked the ligand of", "fired", "docked to , and woke ,"),
            "CPR:6": ("is an antagonist at", "displaced the ligand of", "silenced", "docked to , and masked ,"),
            "CPR:9": ("is a substrate of", "is converted by", "was cleaved by", "is cleared through"),
        },
        negative="false",
        none=("was measured beside", "left no trace on", "is unlike", "was stored with", "did not reach"),
        negatives=0.35,
        sizes=(900, 120, 240),
    ),
    Corpus(
        name="DDI",
        masks=("@DRUG$", "@DRUG$"),
        overlap="@DRUG-DRUG$",
        names=("<CHEM>", "<CHEM>"),
        cues={
            "DDI-advise": ("should not be given with", "needs a lower dose beside", "calls for caution with",
                           "must be stopped before", "if used , should be kept from"),
            "DDI-effect": ("deepens the sleep caused by", "adds to the toxicity of", "weakens the benefit of",
                           "worsens tremor under", "alters the action of"),
            "DDI-int": ("may interact with", "is known to interact with", "has interactions with"),
            "DDI-mechanism": ("slows the clearance of", "raises the plasma level of", "delays the uptake of",
                              "halves the peak of", "alters the kinetics of"),
        },
        negative="DDI-false",
        none=("is sold in packs like", "was studied apart from", "resembles", "is older than", "does not alter"),
        negatives=0.35,
        sizes=(900, 120, 240),
    ),
    Corpus(
        name="GAD",
        masks=("@GENE$", "@DISEASE$"),
        overlap=None,
        names=("<GENE>", "<DIS>"),
        cues={"1": ("made carriers prone to", "raised the risk of", "was associated with", "predicted early",
                    "doubled the odds of", "may shape the course of", "was linked , firmly , to")},
        negative="0",
        none=("told nothing about", "left the risk of", "showed no association with", "had no part in",
              "was as common without", "failed to predict", "was linked , wrongly , to"),
        negatives=0.55,
        sizes=(700, 120, 240),
    ),
)  # fmt: skip


def rows(rng: random.Random, corpus: Corpus, overlap: bool) -> list[tuple[str, str]]:
    """The (sentence with masks, label) rows of one sentence; names beside the masks are still terminals."""
    labels = [*corpus.cues, corpus.negative]
    label = corpus.negative if rng.random() < corpus.negatives else rng.choice(list(corpus.cues))
    cue, none = rng.choice(corpus.cues.get(label, corpus.none)), rng.choice(corpus.none)
    rival = rng.random() < RIVAL and not overlap
    frame = expand(rng, "<rival>" if rival else "<frame>", GRAMMAR)
    (head, tail), (name, _) = corpus.masks, corpus.names
    if rival:
        made = [(frame.format(head, tail, name, cue=cue, none=none), label),
                (frame.format(name, tail, head, cue=cue, none=none), corpus.negative)]  # fmt: skip
    elif overlap and corpus.overlap:
        made = [(frame.format(corpus.overlap, corpus.names[1], cue=cue), corpus.negative)]
    else:
        made = [(frame.format(head, tail, cue=cue), label)]
    return [(text, flip(rng, label, labels, NOISE)) for text, label in made]


def identify(corpus: Corpus, document: int, place: int, text: str) -> str:
    """The id of a row as the dataset writes it; ChemProt's names the earlier entity first, GAD's rows have none."""
    if corpus.name == "chemprot":
        chemical_first = text.find("@CHEM") < text.find("@GENE$") or "@GENE$" not in text
        return f"{document}.{f'T{1 + place}.T9' if chemical_first else f'T9.T{1 + place}'}"
    return f"DDI-Demo.d{document % 100000}.s0.p{place}"


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type."""
    for corpus in CORPORA:
        seen: set[str] = set()
        for part, (split, size) in enumerate(zip(("train", "dev", "test"), corpus.sizes, strict=True), start=1):
            rng, lines, document = stream(seed, corpus.name, split), list[str](), 90000000 + 10000 * part
            terminals = words.terminals(rng, split)
            while len(lines) < size:
                document += 1
                for place, (template, label) in enumerate(rows(rng, corpus, overlap=document % OVERLAP == 0)):
                    text = plain(" ".join(fill(template, terminals).split()))
                    if text in seen:
                        continue
                    seen.add(text)
                    first = str(len(lines)) if corpus.name == "GAD" else identify(corpus, document, place, text)
                    lines.append(f"{first}\t{text}\t{label}")
            header = ["index\tsentence\tlabel"] if corpus.name == "GAD" else []
            yield f"{corpus.name}/{split}.tsv", "\n".join([*header, *lines[:size]]) + "\n"
