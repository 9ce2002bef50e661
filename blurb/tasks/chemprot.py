"""ChemProt: relations between chemicals and proteins; micro-F1 over five groups, excluding `false`."""

from __future__ import annotations

from blurb.tasks._task import Source, Task, tsv_files

TASK = Task(
    name="chemprot",
    title="ChemProt",
    type="relation",
    paper_order=7,
    files=tsv_files("chemprot"),
    reader="blurb.data.readers.relation:read_pairs",
    original="blurb.corpora.originals.chemprot:read",
    dummified=True,
    builder="blurb.corpora.build.relations:build_chemprot",
    source=Source(
        page="https://biocreative.bioinformatics.udel.edu/resources/corpora/chemprot-corpus-biocreative-vi/",
        files=(
            "ChemProt_Corpus.zip, or chemprot_{training,development,test_gs} with their abstracts, entities "
            "and relations"
        ),
        note="register at BioCreative",
    ),
    labels=("CPR:3", "CPR:4", "CPR:5", "CPR:6", "CPR:9", "false"),
    metric="micro_f1_without",
    metric_options={"negative": "false"},
    seeds=5,
    max_length=256,
    unit="pairs",
    sizes={"train": 18_035, "dev": 11_268, "test": 15_745},
    hashes={
        "train": "77cda11f27cacf5af0a01de319fc397382f3c5172cae0ca9a8c768ac65783165",
        "dev": "d048c639ffe12a02cb2ca2eafdc42abed5e3eebbdd7edc0a08b62035ab3ce527",
        "test": "a8585f2f496245bcec7da251c833d95812f17f23e91c49d3f5b11fba89adff10",
    },
    licence="registration at BioCreative",
    homepage="https://biocreative.bioinformatics.udel.edu/tasks/biocreative-vi/track-5/",
    citation=r"""@inproceedings{krallinger2017chemprot,
  title={Overview of the BioCreative VI chemical-protein interaction track},
  author={Krallinger, Martin and Rabal, Obdulia and Akhondi, Saber A. and others},
  booktitle={Proceedings of the BioCreative VI Workshop}, pages={141--146}, year={2017}
}""",
)
