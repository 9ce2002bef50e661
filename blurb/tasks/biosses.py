"""BIOSSES: similarity of two sentences from 0 to 4, the mean of five annotators; Pearson on 20 test pairs."""

from __future__ import annotations

from blurb.tasks._task import Source, Task, tsv_files

TASK = Task(
    name="biosses",
    title="BIOSSES",
    type="similarity",
    paper_order=10,
    files=tsv_files("BIOSSES"),
    reader="blurb.data.readers.similarity:read",
    builder="blurb.corpora.build.biosses:build",
    source=Source(
        page="https://tabilab.cmpe.boun.edu.tr/BIOSSES/DataSet.html",
        files="Annotation-Pairs.docx and Annotator-Scores.docx",
        note="unpack BIOSSES-Dataset.rar",
    ),
    labels=(),
    metric="pearson",
    metric_options={"low": 0.0, "high": 4.0},
    seeds=10,
    max_length=512,
    unit="pairs",
    sizes={"train": 64, "dev": 16, "test": 20},
    hashes={
        "train": "05360ce4a820e24327a9df2eb5e5cb8e9dcdf0aa4ce5afb70e7fb9306ba05458",
        "dev": "eefd5891792feafd09efa966daa16bd2b9f70494c3131cb5c4a4f7663e33420a",
        "test": "d1bfea0c4504f2d9db5bd3c9e7069f2ea52c5330e5cae091e77ad12de3937cf4",
    },
    licence="GPL-3.0",
    homepage="https://tabilab.cmpe.boun.edu.tr/BIOSSES/",
    citation=r"""@article{sogancioglu2017biosses,
  title={BIOSSES: a semantic sentence similarity estimation system for the biomedical domain},
  author={So{\u{g}}anc{\i}o{\u{g}}lu, Gizem and {\"O}zt{\"u}rk, Hakime and {\"O}zg{\"u}r, Arzucan},
  journal={Bioinformatics}, volume={33}, number={14}, pages={i49--i58}, year={2017}
}""",
)
