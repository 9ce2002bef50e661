"""BC5-disease: disease mentions in the abstracts of BC5-chem."""

from __future__ import annotations

from blurb.tasks._mtl import source
from blurb.tasks._task import Task, tsv_files

TASK = Task(
    name="bc5-disease",
    title="BC5-disease",
    type="ner",
    paper_order=2,
    files=tsv_files("BC5CDR-disease"),
    reader="blurb.data.readers.conll:read_ner",
    builder="blurb.corpora.build.mtl:build",
    source=source(
        "BC5CDR-disease-IOB",
        (976013, "d630dafe7dd67e21350cc3278dbdcfadcccbb2b63d0fda83b2427853988e5ad9"),
        (967926, "8c3af95475029c2100c2b7c0108b2715bc700ac198c7a21d587f11f1d06b17bd"),
        (1017600, "a530bf9e17a4122b101b09cedd5f3cf8e6307d6a0093146c33b8de2e69ec0fa3"),
    ),
    labels=("Disease",),
    metric="entity_f1",
    seeds=5,
    max_length=512,
    unit="entities",
    sizes={"train": 4_182, "dev": 4_244, "test": 4_424},
    released={"dev": 4_246},
    explanation=(
        "Table 3 prints 4,244 for dev, the count of the PubTator original; in the CoNLL file a sentence "
        "break splits two mentions, which then count twice: 4,246."
    ),
    hashes={
        "train": "5004b2215ac6162e6c33bb9ede259aded29c6a4ecea135799bef22925f74910d",
        "dev": "c588c7a1c79891927f591361de1c6e5e5fca6ef54150befee25fc7bf08f1d05a",
        "test": "e921ef5d17c656b29743c9ab578442948d7f33c8d243f7d6a2faf1bcb6ca085a",
    },
    licence="US Government work (NCBI); CoNLL conversion CC BY 4.0",
    homepage="https://github.com/cambridgeltl/MTL-Bioinformatics-2016",
    citation=r"""@article{li2016bc5cdr,
  title={BioCreative V CDR task corpus: a resource for chemical disease relation extraction},
  author={Li, Jiao and Sun, Yueping and Johnson, Robin J. and others},
  journal={Database}, volume={2016}, year={2016}
}""",
)
