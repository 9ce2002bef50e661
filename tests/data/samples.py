"""A small correct file of every format, in made-up words, and how to put it where a task looks for it."""

import json
from pathlib import Path

from blurb import tasks

HOC_LABELS = "0_0,1_1,2_0,3_0,4_0,5_0,6_0,7_0,8_1,9_0"

SAMPLES: dict[str, str] = {
    "bc5-chem": "Kalo\tB\nmi\tI\n.\tO\n\ntra\tB\nnex\tB\n",
    "ebm-pico": "-DOCSTART- (123)\n\nkalo\tI-PAR\nmi\tI-PAR\n.\tO\n\ntra\tI-OUT\n-DOCSTART- (77)\n\nnex\tO\n.\tO\n\n",
    "chemprot": "11.T1.T2\tthe @CHEMICAL$ of @GENE$ .\tCPR:3\n11.T1.T3\tso @CHEM-GENE$ .\tfalse\n",
    "ddi": "DDI-X.d1.s0.p0\t@DRUG$ and @DRUG$ mi. \tDDI-false\nDDI-X.d1.s0.p1\tkalo @DRUG-DRUG$\tDDI-int\n",
    "gad": "index\tsentence\tlabel\n0\t@GENE$ kalo @DISEASE$\t1\n1\t@DISEASE$ mi @GENE$\t0\n",
    "biosses": "pair_id\tsent1\tsent2\tscore\n59\tkalo mi\ttra nex\t2.4\n96\tvor\tpil\t0.0\n",
    "hoc": "labels\tsentence\tindex\n"
    f"{HOC_LABELS}\tkalo mi .\t123_s0\n"
    f"{HOC_LABELS.replace('1_1', '1_0')}\ttra .\t123_s1\n",
    "pubmedqa": json.dumps(
        {
            "101": {
                "QUESTION": "kalo mi ?",
                "CONTEXTS": ["tra nex .", "vor ."],
                "final_decision": "yes",
                "LONG_ANSWER": "secret pil .",
            },
            "102": {
                "QUESTION": "dun ?",
                "CONTEXTS": [],
                "final_decision": "maybe",
                "LONG_ANSWER": "secret .",
            },
        },
        indent=1,
    ),
    "bioasq": '5a\tkalo "mi ?\ttra " nex " vor\tyes\n5b\tdun ?\t \tno\n5c\tsey\t\tyes\n',
}
READERS = tuple(SAMPLES)


def put(folder: Path, name: str, content: str | bytes, split: tasks.Split = "train") -> Path:
    """Writes the file of a split of a task, below `folder`."""
    path = folder / tasks.get(name).files[split]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
