"""A tiny original release of every dataset in its own format, in made-up words, with lists and cuts to match."""

import gzip
import io
import json
import random
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from blurb.corpora.build import biosses, hoc, qa, relations, words
from blurb.corpora.original_readers import chemprot, ddi

NAMES = (
    "bc5-chem",
    "bc5-disease",
    "ncbi-disease",
    "bc2gm",
    "jnlpba",
    "ebm-pico",
    "chemprot",
    "ddi",
    "gad",
    "biosses",
    "hoc",
    "pubmedqa",
    "bioasq",
)
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
XML = """<document id="{name}"><sentence id="{name}.s0" text="kalomi vex tra.">
<entity id="{name}.s0.e0" charOffset="0-5" type="drug" text="kalomi"/>
<entity id="{name}.s0.e1" charOffset="11-13" type="brand" text="tra"/>
<pair id="{name}.s0.p0" e1="{name}.s0.e0" e2="{name}.s0.e1" ddi="true" type="int"/></sentence></document>"""


def docx(rows: list[list[str]], tables: int = 1) -> bytes:
    """A Word document with a table of these cells; a line break in a cell begins a paragraph."""
    cell = "".join
    body = "".join(
        "<w:tr>"
        + cell(
            "<w:tc>"
            + "".join(f"<w:p><w:r><w:t>{part}</w:t></w:r></w:p>" for part in text.split("\n"))
            + "</w:tc>"
            for text in row
        )
        + "</w:tr>"
        for row in rows
    )
    content = f'<w:document xmlns:w="{W}"><w:body>{f"<w:tbl>{body}</w:tbl>" * tables}</w:body></w:document>'
    return zipped({"word/document.xml": content.encode()})


def zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def tarred(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


QUESTIONS = {
    str(number): {
        "QUESTION": f"kalo {number} ?",
        "CONTEXTS": ["tra nex ."],
        "final_decision": label,
        "YEAR": None,
    }
    for number, label in enumerate(["yes"] * 40 + ["no"] * 20)
}
TEST_IDS = qa._stratified_parts(
    list(QUESTIONS), 2, QUESTIONS, ("yes", "no", "maybe"), random.Random(0)
)[1]


def question(number: str, answer: str, kind: str = "yesno") -> dict[str, object]:
    """A question as BioASQ's files have it."""
    return {
        "id": number,
        "type": kind,
        "body": f"kalo\n{number} ?",
        "exact_answer": answer,
        "ideal_answer": ["mi"],
        "documents": [],
        "snippets": [{"text": "tra\tnex .", "document": "d"}, {"text": "vor ."}],
    }


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _chemprot() -> dict[str, bytes]:
    found = {}
    for name, suffix in chemprot.FILES.values():
        start = f"ChemProt_Corpus/chemprot_{name}{suffix}/chemprot_{name}"
        found |= {
            f"{start}_abstracts{suffix}.tsv": b"7\tkalomi .\tvex kalomi tra .\n",
            f"{start}_entities{suffix}.tsv": b"7\tT1\tCHEMICAL\t13\t19\tkalomi\n7\tT2\tGENE-Y\t20\t23\ttra\n",
            f"{start}_relations{suffix}.tsv": b"7\tCPR:4\tY \tINHIBITOR\tArg1:T1\tArg2:T2\n",
        }
    return found


def _mtl(folder: str) -> dict[str, bytes]:
    text = b"kalo\tB-Thing\nmi\tI-Thing\n.\tO\n\ntra\tO\n\n"
    return {f"MTL/data/{folder}-IOB/{split}.tsv": text for split in ("train", "devel", "test")}


def _pico() -> dict[str, bytes]:
    found = {}
    for pmid, level in (("1", "train"), ("2", "train"), ("3", "test/gold")):
        found[f"ebm_nlp_2_00/documents/{pmid}.tokens"] = b"kalo\nmi\n.\ntra"
        for element, marks in (
            ("participants", "1100"),
            ("interventions", "0110"),
            ("outcomes", "0001"),
        ):
            path = f"ebm_nlp_2_00/annotations/aggregated/starting_spans/{element}/{level}/{pmid}.AGGREGATED.ann"
            found[path] = "\n".join(marks).encode()
    return found


def _biosses() -> dict[str, bytes]:
    pairs = [[f"{number} ", f"kalo {number}.", "tra\nnex. "] for number in (1, 2, 3)]
    scores = [
        ["1", "4", "4", "3", "4", "4"],
        ["2", "0", "0", "0", "0", "0"],
        ["3", "1", "2", "1", "2", "1"],
    ]
    head = ["Sentence No", *(f"Annotator {name}" for name in "ABCDE")]
    return {
        "BIOSSES-Dataset/Annotation-Pairs.docx": docx([["", "Sentence 1", "Sentence 2"], *pairs]),
        "BIOSSES-Dataset/Annotator-Scores.docx": docx([head, *scores]),
    }


FILES: dict[str, dict[str, bytes]] = {
    "bc5-chem": _mtl("BC5CDR-chem"),
    "bc5-disease": _mtl("BC5CDR-disease"),
    "ncbi-disease": _mtl("NCBI-disease"),
    "bc2gm": _mtl("BC2GM"),
    "jnlpba": {
        "JNLPBA/Genia4ERtask2.iob2": b"###MEDLINE:1\n\nkalo\tB-DNA\nmi\tI-DNA\n\n###MEDLINE:2\n\ntra\tB-protein\n\n",
        "JNLPBA/Genia4EReval2.iob2": b"###MEDLINE:3\n\nnex\tB-RNA\n\n",
    },
    "ebm-pico": _pico(),
    "chemprot": _chemprot(),
    "ddi": {
        f"DDIextraction_2013/{kind}_dataset/x {number}.xml": XML.format(
            name=f"D.d{number}"
        ).encode()
        for number, kind in enumerate(("train", "train", "test"))
    },
    "gad": {
        "GAD/1/train.tsv": b'kalo @GENE$ "mi @DISEASE$\t1\n@GENE$ tra @DISEASE$\t0\n@DISEASE$ of @GENE$\t1\n',
        "GAD/1/test.tsv": b"index\tsentence\tlabel\n0\t@GENE$ nex @DISEASE$\t0\n",
        "GAD/1/dev.tsv": b"",
    },
    "biosses": _biosses(),
    "hoc": {
        f"hoc/{kind}/{pmid}.txt": text
        for pmid in (1, 2, 3)
        for kind, text in (
            ("text", b"kalo mi .\ntra .\n"),
            ("labels", b"< <Resisting cell death--Apoptosis ANDCellular energetics AND NULL"),
        )
    },
    "pubmedqa": {
        "pubmedqa/ori_pqal.json": _json(QUESTIONS),
        "pubmedqa/test_ground_truth.json": _json(dict.fromkeys(TEST_IDS, "yes")),
    },
    "bioasq": {
        "BioASQ-training7b/trainining7b.json": _json(
            {
                "questions": [
                    question("a1", "yes"),
                    question("b2", "no"),
                    question("c3", "x", "factoid"),
                ]
            }
        ),
        **{
            f"Task7BGoldenEnriched/{name}": _json({"questions": [question(f"d{place}", "yes")]})
            for place, name in enumerate(qa.BATCHES)
        },
    },
}


@contextmanager
def small_lists() -> Iterator[None]:
    """Lists and cuts of the size of `FILES`, in the place of BLURB's."""
    one_each = {"train": ["1"], "dev": ["2"], "test": ["3"]}
    with pytest.MonkeyPatch.context() as patch:
        for module in (words, biosses, hoc):
            patch.setattr(module, "load_split_lists", lambda name: one_each)
        patch.setattr(qa, "load_split_lists", lambda name: {"dev": ["b2"]})
        paths = [
            f"{kind}_dataset/x {number}.xml"
            for number, kind in enumerate(("train", "train", "test"))
        ]
        patch.setattr(
            ddi,
            "load_split_lists",
            lambda name: {"train": paths[:1], "dev": paths[1:2], "test": paths[2:]},
        )
        patch.setattr(chemprot, "_sentence_ends", lambda: {"7": [8, 25]})
        patch.setattr(relations, "GAD_CUT", 2)
        patch.setattr(words, "JNLPBA_CUT", 5)
        yield


def put(folder: Path, name: str, changed: Mapping[str, bytes | None] | None = None) -> Path:
    """Writes the release of a dataset below a folder; `changed` has other contents by path (None: no such file)."""
    for path, content in {**FILES[name], **(changed or {})}.items():
        if content is not None:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    return folder
