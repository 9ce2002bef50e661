"""BC5-chem: chemical mentions in PubMed abstracts (BioCreative V CDR, CoNLL files of Crichton et al.)."""

from __future__ import annotations

from blurb.tasks._mtl import source
from blurb.tasks._task import Task, tsv_files

TASK = Task(
    name="bc5-chem",
    title="BC5-chem",
    type="ner",
    paper_order=1,
    files=tsv_files("BC5CDR-chem"),
    reader="blurb.data.readers.conll:read_ner",
    builder="blurb.corpora.build.mtl:build",
    source=source(
        "BC5CDR-chem-IOB",
        (983140, "165c4cd2efadd0caf1bb8f3c6bcd3acca199446bb3d55eb06d9137114c9a0b2d"),
        (976029, "3f1df5cfcff95735663ffc37121fd3687e82b1e9a019bec0480491502652721b"),
        (1023429, "6fce42139a9d819151eff3ab8cb0eda6fbf861fd17d4cfe6be2123f010a3b6c5"),
    ),
    labels=("Chemical",),
    metric="entity_f1",
    seeds=5,
    max_length=512,
    unit="entities",
    sizes={"train": 5_203, "dev": 5_347, "test": 5_385},
    hashes={
        "train": "0d1cfcd1530b46eecb823aa99c61b9a1449c4a61a007d2b9732fe3f00e73f117",
        "dev": "82c8d10329b465f2f2e21103eff900e3fe58c7f8d24bf976ceba049ea00a9932",
        "test": "a54d6b246846d61ed354b94a773478e13f24c1e49f445cf183d5ae5709d00ee6",
    },
    licence="US Government work (NCBI); CoNLL conversion CC BY 4.0",
    homepage="https://github.com/cambridgeltl/MTL-Bioinformatics-2016",
    citation=r"""@article{li2016bc5cdr,
  title={BioCreative V CDR task corpus: a resource for chemical disease relation extraction},
  author={Li, Jiao and Sun, Yueping and Johnson, Robin J. and others},
  journal={Database}, volume={2016}, year={2016}
}""",
)
