"""EBM PICO: participants, interventions and outcomes in abstracts of clinical trials, scored by word."""

from __future__ import annotations

from blurb.tasks._task import Download, Source, Task, tsv_files

TASK = Task(
    name="ebm-pico",
    title="EBM PICO",
    type="pico",
    paper_order=6,
    files=tsv_files("ebmnlp"),
    reader="blurb.data.readers.conll:read_pico",
    builder="blurb.corpora.build.ebm_pico:build",
    source=Source(
        page="https://github.com/bepnye/EBM-NLP",
        files="ebm_nlp_2_00 (documents/, annotations/aggregated/starting_spans/) or ebm_nlp_2_00.tar.gz",
        note="version 2.00, not 1.00",
        downloads=(
            Download(
                "https://raw.githubusercontent.com/bepnye/EBM-NLP/master/ebm_nlp_2_00.tar.gz",
                "EBM-NLP/ebm_nlp_2_00.tar.gz",
            ),
        ),
    ),
    labels=("PAR", "INT", "OUT"),
    metric="token_macro_f1",
    metric_options={"labels": ("PAR", "INT", "OUT")},
    seeds=5,
    max_length=512,
    unit="labelled words",
    sizes={"train": 339_167, "dev": 85_321, "test": 16_364},
    released={"train": 337_180, "dev": 87_308},
    explanation=(
        "Table 3 prints 339,167/85,321; the released document lists give 337,180/87,308 (the same 424,488"
        " words in total, split differently)."
    ),
    hashes={
        "dev": "cca3d823439b41767c0adc0748e5258d9da1b6a868b48c8aadcf3063cefc9b5d",
        "test": "2353f00b4511d22da4616bc3c0ea8bea44de779abe49c9be61a5a51a59c3c02e",
    },
    licence="none stated",
    homepage="https://ebm-nlp.herokuapp.com",
    citation=r"""@inproceedings{nye2018ebmnlp,
  title={A corpus with multi-level annotations of patients, interventions and outcomes to support language processing
         for medical literature},
  author={Nye, Benjamin and Li, Junyi Jessy and Patel, Roma and others},
  booktitle={Proceedings of ACL}, pages={197--207}, year={2018}
}""",
)
