"""The five NER datasets: BC5CDR-chem, BC5CDR-disease, NCBI-disease, BC2GM, JNLPBA.

Learnable: suffixes show the kind of a name, and so do the words around it ("dose of", "history of"). Non-trivial: a
quarter of the names in dev and test is new; in one sentence of five any kind of name may occur anywhere, so that only
its form helps; decoys look like names but are not; some modifiers belong to the mention ("chronic") and others do not
("severe"); four per cent of the mentions have no tags, as if an annotator had missed them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from blurb.corpora.demo.lexicon import Grammar, Lexicon, expand, stream

MISSED = 0.04  # share of mentions whose tags are dropped
BARE = 0.2  # share of sentences whose words do not show the kinds of their names

GRAMMAR: Grammar = {
    "any": ("<CHEM>", "<DIS>", "<GENE>", "<CELL>", "<DECOY>"),
    "chem_frame": ("a <amount> of <CHEM>", "<CHEM> given <route>", "treatment with <CHEM>", "<CHEM> and <CHEM>"),
    "dis_frame": ("a history of <DIS>", "<host> with <DIS>", "<severity> <DIS>", "the onset of <DIS> or <DIS>"),
    "gene_frame": ("expression of <GENE>", "a mutant <GENE>", "<GENE> transcripts", "binding of <GENE> to <GENE>"),
    "cell_frame": ("cultured <CELL>", "<CELL> from the <organ>"),
    "amount": ("single dose", "high dose", "trace", "daily tablet", "surplus"),
    "route": ("by mouth", "into a vein", "twice daily", "with food"),
    "severity": ("severe", "mild", "new", "untreated"),
    "act": ("raised", "changed", "lowered", "shaped", "spared", "followed", "came before", "was tied to"),
    "aside": ("", "", ", <when> ,", "<site>", ", like <any> ,", "in the <organ>", "on the <DECOY>"),
    "report": ("was recorded", "was frequent", "could be ruled out", "came up again", "was the main finding"),
    "note": ("we looked for", "the report mentions", "the team followed", "nobody expected", "it was about"),
}
FRAMES = {
    "cdr": ("<open> , <chem_frame> <act> <dis_frame> <aside> .", "<dis_frame> <act> <chem_frame> <when> ."),
    "ncbi": ("<dis_frame> <report> in <count> <host> <aside> .", "<open> , <gene_frame> <act> <dis_frame> ."),
    "gene": ("<open> , <gene_frame> <act> <gene_frame> <aside> .", "<gene_frame> <report> in the <organ> ."),
    "cell": ("<gene_frame> in <cell_frame> <act> <gene_frame> .", "<open> , <cell_frame> <act> <gene_frame> <aside> ."),
}
ANYWHERE = (
    "<open> , <note> <any> and <any> <aside> .",
    "<any> <act> <any> in <count> <host> <aside> .",
    "<note> <any> <when> , not <any> .",
)


@dataclass(frozen=True)
class Corpus:
    """A source of sentences and the datasets that tag them; sizes are numbers of sentences in train, dev, test."""

    name: str
    frames: str
    tagged: dict[str, tuple[str, ...]]
    sizes: tuple[int, int, int]
    documents: bool = False


CORPORA = (
    # As in BLURB, the two BC5CDR datasets are the same sentences with other tags.
    Corpus("cdr", "cdr", {"BC5CDR-chem": ("CHEM",), "BC5CDR-disease": ("DIS",)}, (700, 100, 200)),
    Corpus("ncbi", "ncbi", {"NCBI-disease": ("DIS",)}, (700, 100, 200)),
    Corpus("bc2gm", "gene", {"BC2GM": ("GENE",)}, (700, 100, 200)),
    Corpus("jnlpba", "cell", {"JNLPBA": ("GENE", "CELL")}, (700, 100, 200), documents=True),
)


def mention(rng: random.Random, kind: str, words: Lexicon, split: str) -> list[str]:
    """The tokens of one mention of `kind`, some with a word before or after that belongs to it."""
    if kind == "CHEM":
        name = words.chemicals.pick(rng, split)
        return rng.choice(([name], [name], [name, "acid"], ["sodium", name]))
    if kind == "DIS":
        name = words.diseases.pick(rng, split)
        return rng.choice(([name], [name], ["chronic", name], [name, "syndrome"]))
    if kind == "GENE":
        name = words.genes.pick(rng, split)
        return rng.choice(([name], [name], [name, "receptor"], ["human", name]))
    if kind == "CELL":
        return [*rng.choice(([], ["T"])), words.cells.pick(rng, split), "cells"]
    return [words.decoys.pick(rng, split).capitalize(), rng.choice(("score", "assay", "scale", "registry"))]


def sentence(rng: random.Random, frames: Sequence[str], words: Lexicon, split: str) -> list[tuple[str, str]]:
    """One sentence as (token, tag) pairs, tags ``B-CHEM``, ``I-CHEM``, ... and ``O``."""
    text = expand(rng, rng.choice(frames if rng.random() >= BARE else ANYWHERE), GRAMMAR)
    rows: list[tuple[str, str]] = []
    for token in text.split():
        terminal = re.fullmatch(r"<([A-Z]+)>", token)
        if not terminal:
            rows.append((token, "O"))
            continue
        missed = rng.random() < MISSED
        for place, part in enumerate(mention(rng, terminal[1], words, split)):
            rows.append((part, "O" if missed else f"{'I' if place else 'B'}-{terminal[1]}"))
    return [(rows[0][0][:1].upper() + rows[0][0][1:], rows[0][1]), *rows[1:]]


def _tsv(sentences: Sequence[Sequence[tuple[str, str]]], kinds: Sequence[str], first_document: int | None) -> str:
    """BLURB's layout: the tag's type is dropped, one blank line after a sentence, DOCSTART every five sentences."""
    lines: list[str] = []
    for place, rows in enumerate(sentences):
        if first_document is not None and place % 5 == 0:
            lines += [f"-DOCSTART- {first_document + place // 5}", ""]
        lines += [f"{token}\t{tag[0] if tag[2:] in kinds else 'O'}" for token, tag in rows] + [""]
    return "\n".join(lines) + "\n"


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type."""
    for corpus in CORPORA:
        seen: set[str] = set()
        for part, (split, size) in enumerate(zip(("train", "dev", "test"), corpus.sizes, strict=True)):
            rng = stream(seed, corpus.name, split)
            sentences: list[list[tuple[str, str]]] = []
            while len(sentences) < size:
                rows = sentence(rng, FRAMES[corpus.frames], words, split)
                text = " ".join(token for token, _ in rows)
                if text not in seen:
                    seen.add(text)
                    sentences.append(rows)
            first_document = 95000001 + 1000 * part if corpus.documents else None
            for dataset, kinds in corpus.tagged.items():
                yield f"{dataset}/{split}.tsv", _tsv(sentences, kinds, first_document)
