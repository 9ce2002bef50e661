"""BC2GM: gene and protein mentions (BioCreative II)."""

from __future__ import annotations

from blurb.tasks._task import Source, Task, tsv_files

TASK = Task(
    name="bc2gm",
    title="BC2GM",
    type="ner",
    row=4,
    files=tsv_files("BC2GM"),
    reader="blurb.data.conll:read_ner",
    builder="blurb.data.prepare.mtl:build",
    source=Source(
        page="https://github.com/cambridgeltl/MTL-Bioinformatics-2016",
        files="MTL-Bioinformatics-2016/data/BC2GM-IOB/{train,devel,test}.tsv, or the repository as an archive",
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
