"""DDI: drug-drug interactions; micro-F1 over four types, excluding `DDI-false`."""

from __future__ import annotations

from blurb.tasks._task import Download, Source, Task, tsv_files

TASK = Task(
    name="ddi",
    title="DDI",
    type="relation",
    paper_order=8,
    files=tsv_files("DDI"),
    reader="blurb.data.readers.relation:read_pairs",
    original="blurb.corpora.originals.ddi:read",
    dummified=True,
    builder="blurb.corpora.build.relations:build_ddi",
    source=Source(
        page="https://github.com/zhangyijia1979/hierarchical-RNNs-model-for-DDI-extraction",
        files="DDIextraction_2013 or DDIextraction_2013.tar.gz",
        note="this copy, not the one of isegura/DDICorpus, which differs in ten files",
        downloads=(
            Download(
                "https://raw.githubusercontent.com/zhangyijia1979/hierarchical-RNNs-model-for-DDI-extraction/bedb83d01805a90db9a3ef73ac135e408f1af8f9/DDIextraction2013/DDIextraction_2013.tar.gz",
                "DDI/DDIextraction_2013.tar.gz",
                1075921,
                "ee760ba7575eaa7292b0f8159b4063afae81f6f78d3f7ac5b0d3217e980bee67",
            ),
        ),
    ),
    labels=("DDI-advise", "DDI-effect", "DDI-int", "DDI-mechanism", "DDI-false"),
    metric="micro_f1_without",
    metric_options={"negative": "DDI-false"},
    seeds=5,
    max_length=256,
    unit="pairs",
    sizes={"train": 25_296, "dev": 2_496, "test": 5_716},
    hashes={
        "train": "0f3594a4ed27d7014a2360460ece97d04c1184053851104f70edc19d4d944662",
        "dev": "8064af00a577274ce4ebab01edacac683ad7751dd1e4eb80e7e1dd1c2a28d0ae",
        "test": "818060ffcf9484cb77cad238a92e921aacbd17a013baf5e7d0e8d2b15559c64b",
    },
    licence="CC BY-NC 4.0",
    homepage="https://github.com/isegura/DDICorpus",
    citation=r"""@article{herrero2013ddi,
  title={The DDI corpus: an annotated corpus with pharmacological substances and drug-drug interactions},
  author={Herrero-Zazo, Mar{\'i}a and Segura-Bedmar, Isabel and Mart{\'i}nez, Paloma and Declerck, Thierry},
  journal={Journal of Biomedical Informatics}, volume={46}, number={5}, pages={914--920}, year={2013}
}""",
)
