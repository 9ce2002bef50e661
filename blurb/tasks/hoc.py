"""HoC: hallmarks of cancer in an abstract; labelled by sentence, scored by abstract (union over its sentences)."""

from __future__ import annotations

from blurb.tasks._task import Download, Source, Task, tsv_files

LABELS = (
    "activating invasion and metastasis",
    "avoiding immune destruction",
    "cellular energetics",
    "enabling replicative immortality",
    "evading growth suppressors",
    "genomic instability and mutation",
    "inducing angiogenesis",
    "resisting cell death",
    "sustaining proliferative signaling",
    "tumor promoting inflammation",
)
HALLMARKS = dict(zip(LABELS, ("IM", "ID", "CE", "RI", "GS", "GI", "A", "CD", "PS", "TPI"), strict=True))
"""The short names of the labels (docs/benchmark.md, "HoC")."""

TASK = Task(
    name="hoc",
    title="HoC",
    type="document",
    paper_order=11,
    files=tsv_files("HoC"),
    reader="blurb.data.readers.hoc:read",
    builder="blurb.corpora.build.hoc:build",
    source=Source(
        page="https://github.com/sb895/Hallmarks-of-Cancer",
        files="hoc/text/ and hoc/labels/, or Hallmarks-of-Cancer*.tar.gz or .zip with text/ and labels/",
        downloads=(
            Download(
                "https://codeload.github.com/sb895/Hallmarks-of-Cancer/tar.gz/3bc6e6deb90cf5bc4f9988c493fe2c32e9b3cf2a",
                "hoc/Hallmarks-of-Cancer.tar.gz",
            ),
        ),
    ),
    labels=LABELS,
    metric="multilabel_f1",
    metric_options={"labels": LABELS},
    seeds=5,
    max_length=128,
    unit="documents",
    sizes={"train": 1_295, "dev": 186, "test": 371},
    hashes={
        "train": "0e9ce4ec9ff119791a57e675a79ecdd8c0ff3f8dce2d4fc5c5b28de639624abc",
        "dev": "31069587e89a973a6bbc1b96d7b972dd5a4581d86b1875bd2955f5435ec06487",
        "test": "0880b6b44f8a2de4739323e7fe601ffe91eb7e69cf6e1d58008a2930f7eb05ed",
    },
    licence="GPL-3.0",
    homepage="https://github.com/sb895/Hallmarks-of-Cancer",
    citation=r"""@article{baker2016hoc,
  title={Automatic semantic classification of scientific literature according to the hallmarks of cancer},
  author={Baker, Simon and Silins, Ilona and Guo, Yufan and others},
  journal={Bioinformatics}, volume={32}, number={3}, pages={432--440}, year={2016}
}""",
)
