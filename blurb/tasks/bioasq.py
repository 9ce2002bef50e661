"""BioASQ: the yes/no questions of task 7b, answered from their snippets."""

from __future__ import annotations

from blurb.tasks._task import Source, Task, tsv_files

TASK = Task(
    name="bioasq",
    title="BioASQ",
    type="qa",
    paper_order=13,
    files=tsv_files("BioASQ"),
    reader="blurb.data.readers.qa:read_bioasq",
    builder="blurb.corpora.build.bioasq:build",
    source=Source(
        page="http://participants-area.bioasq.org/datasets/",
        files=(
            "BioASQ-training7b.zip and Task7BGoldenEnriched.zip, or trainining7b.json (sic) and "
            "7B{1,2,3,4,5}_golden.json"
        ),
        note="register at BioASQ; task 7b of 2019",
    ),
    labels=("yes", "no"),
    metric="accuracy",
    seeds=10,
    max_length=512,
    unit="questions",
    sizes={"train": 670, "dev": 75, "test": 140},
    licence="registration at BioASQ; not to be redistributed",
    homepage="http://participants-area.bioasq.org",
    citation=r"""@inproceedings{nentidis2019bioasq,
  title={Results of the seventh edition of the BioASQ challenge},
  author={Nentidis, Anastasios and Bougiatiotis, Konstantinos and Krithara, Anastasia and Paliouras, Georgios},
  booktitle={ECML PKDD Workshops}, pages={553--568}, year={2019}
}""",
)
