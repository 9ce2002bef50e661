"""JNLPBA: molecular biology entities; the original's five types are merged into one, as in the paper."""

from __future__ import annotations

from blurb.tasks._task import Download, Source, Task, tsv_files

TASK = Task(
    name="jnlpba",
    title="JNLPBA",
    type="ner",
    paper_order=5,
    files=tsv_files("JNLPBA"),
    reader="blurb.data.readers.conll:read_ner",
    builder="blurb.corpora.build.jnlpba:build",
    source=Source(
        page="https://github.com/spyysalo/jnlpba",
        files="Genia4ERtask2.iob2 and Genia4EReval2.iob2, or Genia4ERtraining.tar.gz and Genia4ERtest.tar.gz",
        downloads=(
            Download(
                "http://www.nactem.ac.uk/GENIA/current/Shared-tasks/JNLPBA/Train/Genia4ERtraining.tar.gz",
                "JNLPBA/Genia4ERtraining.tar.gz",
            ),
            Download(
                "http://www.nactem.ac.uk/GENIA/current/Shared-tasks/JNLPBA/Evaluation/Genia4ERtest.tar.gz",
                "JNLPBA/Genia4ERtest.tar.gz",
            ),
        ),
    ),
    labels=("Entity",),
    metric="entity_f1",
    seeds=5,
    max_length=512,
    unit="entities",
    sizes={"train": 46_750, "dev": 4_551, "test": 8_662},
    hashes={
        "train": "f1e3c9c59eeedd2205b1a8d41ad4e3d0a46c9906c5ea4d8eadc99a8b932528cf",
        "dev": "4d0963202f66e936d05d40cf341679a8dcc666fcd52526e12720084716f8e181",
        "test": "ad6049b843cc7d88ea8e25226e3626e86fdcbf803cf3e4e290dabf7dc20029c4",
    },
    licence="GENIA annotations CC BY 3.0; PubMed terms for the text",
    homepage="http://www.geniaproject.org/shared-tasks/bionlp-jnlpba-shared-task-2004",
    citation=r"""@inproceedings{collier2004jnlpba,
  title={Introduction to the bio-entity recognition task at JNLPBA},
  author={Collier, Nigel and Kim, Jin-Dong},
  booktitle={Proceedings of NLPBA/BioNLP}, pages={73--78}, year={2004}
}""",
)
