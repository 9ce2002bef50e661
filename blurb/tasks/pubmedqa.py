"""PubMedQA: yes, no or maybe from an abstract without its conclusion; fold 0 of the ten, the official test set."""

from __future__ import annotations

from blurb.tasks._task import Source, Task

TASK = Task(
    name="pubmedqa",
    title="PubMedQA",
    type="qa",
    row=12,
    files={
        "train": "pubmedqa/pqal_fold0/train_set.json",
        "dev": "pubmedqa/pqal_fold0/dev_set.json",
        "test": "pubmedqa/test_set.json",
    },
    reader="blurb.data.qa:read_pubmedqa",
    builder="blurb.data.prepare.pubmedqa:build",
    source=Source(
        page="https://github.com/pubmedqa/pubmedqa",
        files="ori_pqal.json and test_ground_truth.json, or the repository as an archive",
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
