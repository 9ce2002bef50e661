"""NCBI-disease: disease mentions, split as in the CoNLL files (which have the duplicated document once)."""

from __future__ import annotations

from blurb.tasks._mtl import source
from blurb.tasks._task import Task, tsv_files

TASK = Task(
    name="ncbi-disease",
    title="NCBI-disease",
    type="ner",
    paper_order=3,
    files=tsv_files("NCBI-disease"),
    reader="blurb.data.readers.conll:read_ner",
    builder="blurb.corpora.build.mtl:build",
    source=source(
        "NCBI-disease-IOB",
        (1137445, "58379baf4614b8d757d93dd7a21b202849ca99f9b9d71b49185523ff5443300c"),
        (200352, "b4e1e7efcc2a35047bf2f3d281648357470e674f555d4a26a0049ac37d59cc61"),
        (205664, "8f088ce45dc4746592188f9e69de3d89d87f3bb8f0ed8c4a287d018123fa148d"),
    ),
    labels=("Disease",),
    metric="entity_f1",
    seeds=5,
    max_length=512,
    unit="entities",
    sizes={"train": 5_134, "dev": 787, "test": 960},
    hashes={
        "train": "42bddf323d3dd3ba961b46177342be17503743a734e5239c318c6a795adc7a63",
        "dev": "5a7bec1f23e67a2efce5991347c3dfd471a2245b447be81a424ddc87fb465f8f",
        "test": "c755aba528456f218ced4ba8896b0c28bcaeaed508ced407e14610606d20517e",
    },
    licence="US Government work (NCBI); CoNLL conversion CC BY 4.0",
    homepage="https://www.ncbi.nlm.nih.gov/CBBresearch/Dogan/DISEASE/",
    citation=r"""@article{dogan2014ncbi,
  title={NCBI disease corpus: a resource for disease name recognition and concept normalization},
  author={Do{\u{g}}an, Rezarta Islamaj and Leaman, Robert and Lu, Zhiyong},
  journal={Journal of Biomedical Informatics}, volume={47}, pages={1--10}, year={2014}
}""",
)
