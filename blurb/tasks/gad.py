"""GAD: whether a sentence associates a gene with a disease; F1 of the positive class."""

from __future__ import annotations

from blurb.tasks._task import Download, Source, Task, tsv_files

TASK = Task(
    name="gad",
    title="GAD",
    type="relation",
    paper_order=9,
    files=tsv_files("GAD"),
    reader="blurb.data.readers.relation:read_gad",
    dummified=True,
    builder="blurb.corpora.build.gad:build",
    source=Source(
        page="https://github.com/dmis-lab/biobert",
        files="GAD/1/{train,test}.tsv, or REdata.zip with them",
        note="the relation extraction datasets of BioBERT; the first of ten folds",
        downloads=(
            Download(
                "https://raw.githubusercontent.com/BioMedBERT/biomedbert/9e5e1019d79d07c7aecc4eb49106203af1012663/datasets/RE/GAD/1/train.tsv",
                "GAD/1/train.tsv",
                845495,
                "21e3765852a13cf03e6e759e201c5ad2d18b10d3ab05a8ac6bd7510f18f68fec",
            ),
            Download(
                "https://raw.githubusercontent.com/BioMedBERT/biomedbert/9e5e1019d79d07c7aecc4eb49106203af1012663/datasets/RE/GAD/1/test.tsv",
                "GAD/1/test.tsv",
                102294,
                "68fe2b2bddefac2cd5d35b4bc8a13bceee95ee9a582a623632981e893cdb512e",
            ),
        ),
    ),
    labels=("0", "1"),
    metric="binary_f1",
    metric_options={"positive": "1"},
    seeds=5,
    max_length=128,
    unit="pairs",
    sizes={"train": 4_261, "dev": 535, "test": 534},
    hashes={
        "train": "34cd05ad1c98e6b0a779a09155932c8312043a48d7a630c506832a346fa5a6b4",
        "dev": "d9b0fea1ffc147fab9a395d652362e5e33f049b0eacea646fb8b1cb002effe80",
        "test": "8e71824c505121371d60f11c8a1e9b3f49fedb32b34e48396a9902c0f6b5628a",
    },
    licence="CC BY 4.0",
    homepage="https://github.com/dmis-lab/biobert",
    citation=r"""@article{bravo2015gad,
  title={Extraction of relations between genes and diseases from text and large-scale data analysis: implications for
         translational research},
  author={Bravo, {\`A}lex and Pi{\~n}ero, Janet and Queralt-Rosinach, N{\'u}ria and others},
  journal={BMC Bioinformatics}, volume={16}, number={1}, pages={55}, year={2015}
}""",
)
