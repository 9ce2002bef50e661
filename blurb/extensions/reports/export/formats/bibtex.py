"""BibTeX references of the datasets, from their declarations, and of BLURB."""

from __future__ import annotations

import re

from blurb.extensions.reports.export.formats import ExportFormat, ExportRequest, Files, rows

BLURB = r"""@article{gu2021blurb,
  title={Domain-Specific Language Model Pretraining for Biomedical Natural Language Processing},
  author={Gu, Yu and Tinn, Robert and Cheng, Hao and Lucas, Michael and Usuyama, Naoto and Liu, Xiaodong and
          Naumann, Tristan and Gao, Jianfeng and Poon, Hoifung},
  journal={ACM Transactions on Computing for Healthcare}, volume={3}, number={1}, pages={1--23}, year={2021},
  doi={10.1145/3458754}
}"""


def _render(wanted: ExportRequest) -> Files:
    """References of the datasets in `--tasks`; with rows, only of those with results."""
    chosen = rows(wanted) if wanted.rows else []
    entries = {key(BLURB): BLURB}
    for task in wanted.datasets:
        if task.citation.strip() and (
            not wanted.rows or any(row.seeds(task.name) for row in chosen)
        ):
            # BC5 is one reference for two datasets
            entries.setdefault(key(task.citation), task.citation.strip())
    return {"": ("\n\n".join(entries.values()) + "\n").encode()}


def key(entry: str) -> str:
    """The key of a BibTeX entry."""
    found = re.search(r"@\w+\s*\{\s*([^,\s]+)", entry)
    return found.group(1) if found else entry


EXPORT = ExportFormat("references of the datasets and of BLURB", _render)
