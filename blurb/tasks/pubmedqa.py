"""PubMedQA: yes, no or maybe from an abstract without its conclusion; fold 0 of ten, official test set."""

from __future__ import annotations

from blurb.tasks._task import Download, Source, Task

TASK = Task(
    name="pubmedqa",
    title="PubMedQA",
    type="qa",
    paper_order=12,
    files={
        "train": "pubmedqa/pqal_fold0/train_set.json",
        "dev": "pubmedqa/pqal_fold0/dev_set.json",
        "test": "pubmedqa/test_set.json",
    },
    reader="blurb.data.readers.qa:read_pubmedqa",
    builder="blurb.corpora.build.pubmedqa:build",
    source=Source(
        page="https://github.com/pubmedqa/pubmedqa",
        files="ori_pqal.json and test_ground_truth.json, or the repository as an archive",
        downloads=(
            Download(
                "https://raw.githubusercontent.com/pubmedqa/pubmedqa/1cbae8e92f72f20c8d3747cbb3bf5bc53554d997/data/ori_pqal.json",
                "pubmedqa/ori_pqal.json",
                2584787,
                "8b3276be8942ebbd77f3ddcda12c1749bf0e490045a736fd8438ee40cf37a41d",
            ),
            Download(
                "https://raw.githubusercontent.com/pubmedqa/pubmedqa/1cbae8e92f72f20c8d3747cbb3bf5bc53554d997/data/test_ground_truth.json",
                "pubmedqa/test_ground_truth.json",
                11414,
                "939fe566f09017d13b1ca64d2ddfee0bc2374b366048152997669cccedc44d51",
            ),
        ),
    ),
    labels=("yes", "no", "maybe"),
    metric="accuracy",
    seeds=10,
    max_length=512,
    unit="questions",
    sizes={"train": 450, "dev": 50, "test": 500},
    hashes={
        "train": "94bf62072ef695a0d937351d748cddf30977ed2ea3b096415cc2ab57587af3b4",
        "dev": "db2c28cdbaceab009fe8f5557287bb9e9251f73d699cd0f2ee447d863e7a1494",
        "test": "8c724bb668b1ca27f6c499614b167c3b1794ecc89c9fef1f7847d764f3cc087f",
    },
    licence="MIT",
    homepage="https://pubmedqa.github.io",
    citation=r"""@inproceedings{jin2019pubmedqa,
  title={PubMedQA: a dataset for biomedical research question answering},
  author={Jin, Qiao and Dhingra, Bhuwan and Liu, Zhengping and Cohen, William and Lu, Xinghua},
  booktitle={Proceedings of EMNLP-IJCNLP}, pages={2567--2577}, year={2019}
}""",
)
