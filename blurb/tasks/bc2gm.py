"""BC2GM: gene and protein mentions (BioCreative II)."""

from __future__ import annotations

from blurb.tasks._mtl import source
from blurb.tasks._task import Task, tsv_files

TASK = Task(
    name="bc2gm",
    title="BC2GM",
    type="ner",
    paper_order=4,
    files=tsv_files("BC2GM"),
    reader="blurb.data.readers.conll:read_ner",
    builder="blurb.corpora.build.mtl:build",
    source=source(
        "BC2GM-IOB",
        (2894167, "46e17f4e1509483b82c03f27d6f0214020f738fb71704356fb3445eb824ab38d"),
        (577660, "33a94577aa22f1e70ec9e02781a05baa4e1390e866d28bf2b344888e4e3d4103"),
        (1165057, "30d7a4f571ca8ed22a044528063ba5d0388d666d8b8b329733d6927e5fb30764"),
    ),
    labels=("GENE",),
    metric="entity_f1",
    seeds=5,
    max_length=512,
    unit="entities",
    sizes={"train": 15_197, "dev": 3_061, "test": 6_325},
    hashes={
        "train": "65cdd188e95f86bd4a7f4b80515240ac790fed5ac1185cb66f073eea6758e889",
        "dev": "7d73c1e1850bbc32edee3065e6b848c26b68e382fe8b579049ed93de8bea8205",
        "test": "5098a18a25387339beaf633b059ae863e1147fca456d1d459a5b27a3d9f8fce6",
    },
    licence="US Government work (NCBI); CoNLL conversion CC BY 4.0",
    homepage="https://github.com/spyysalo/bc2gm-corpus",
    citation=r"""@article{smith2008bc2gm,
  title={Overview of BioCreative II gene mention recognition},
  author={Smith, Larry and Tanabe, Lorraine K. and Ando, Rie Johnson nee and others},
  journal={Genome Biology}, volume={9}, number={S2}, year={2008}
}""",
)
