"""The provenance of a row, from that of its trials; only selected facts, so that no private path gets onto the page."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable
from typing import Any

from blurb import tasks
from blurb.extensions.reports.html.model import DatasetProvenance, RowProvenance
from blurb.inputs.relations import DUMMIES
from blurb.learners import is_named
from blurb.messages import count_noun, option_to_paste
from blurb.results.row import DEMO, Row

SELF_MADE = "scratch:"
"""Begins models that can be obtained by their name."""
VERSIONS = (
    "blurb",
    "commit",
    "python",
    "torch",
    "transformers",
    "tokenizers",
    "accelerate",
    "datasets",
    "numpy",
)
ENVIRONMENT = (*VERSIONS, "platform", "device", "cpus", "threads")
FOLDERS = re.compile(
    r"(?<![\w.])(?:~[^\s/\\,;=]*[/\\](?:[^\n,;=]*[/\\])?|(?:[A-Za-z]:)?[/\\][^\n,;=]*[/\\])"
)
"""Matches paths on a local machine. Folders may contain spaces, so it hides too much rather than too little."""
COMMIT = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28}(\+?)")


def row_provenance(row: Row) -> RowProvenance:
    """The command, hashes, versions, hardware and time of a row of the store.

    Of each trial one file is read: what else is needed the row and its runs know.
    """
    provenances = [record.provenance for seeds in row.records.values() for record in seeds.values()]
    versions = (
        run.metrics_version for known in row.datasets.values() for run in known.runs.values()
    )
    configuration, revision = row.configuration, _all(known.revision for known in provenances)
    faults = sum((Counter(known.facts.get("faults")) for known in provenances), Counter[str]())
    facts = [
        ("Weights and configuration", "" if row.kind.claimed else row.weights),
        ("Tokenizer", "" if row.kind.claimed else row.tokenizer),
        ("Model of the server", _all(known.facts.get("server_model") for known in provenances)),
        (
            "Faults of answers",
            ", ".join(f"{count:,} {fault.replace('_', ' ')}" for fault, count in faults.items()),
        ),
        ("Revision", revision),
        ("Parameters", _all(f"{known.parameters:,}" for known in provenances if known.parameters)),
        ("Protocol", f"{configuration.protocol} ({configuration.protocol_hash[:12]})"),
        ("Recipe", row.recipe),
        ("Metrics", "version " + _all(versions)),
    ]
    # Of a commit the first twelve digits, with `+` if it has local changes.
    facts += [
        (name, COMMIT.sub(r"\1\2", _all(known.environment.get(name) for known in provenances)))
        for name in ENVIRONMENT
    ]
    days = sorted(known.started[:10] for known in provenances if known.started)
    spans = [" to ".join(dict.fromkeys((days[0], days[-1])))] if days else []
    if known_times := [
        known.train_seconds for known in provenances if known.train_seconds is not None
    ]:
        spans.append(
            f"{sum(known_times) / 60:,.1f} minutes of training in {count_noun(len(known_times), 'trial')}"
        )
    facts.append(("Time", "; ".join(spans)))
    parts = []
    for task, seeds in row.records.items():
        times = [
            time
            for record in seeds.values()
            if (time := record.provenance.train_seconds) is not None
        ]
        runs, first = row.datasets[task].runs, min(seeds)
        provenance = seeds[first].provenance
        parts.append(
            DatasetProvenance(
                task=task,
                trials={seed: runs[seed].trial for seed in sorted(seeds)},
                data=runs[first].data_hash,
                verdict=provenance.data_verdict,
                seconds=sum(times) if times else None,
                units=provenance.train_units,
                cut=provenance.truncated("train"),
            )
        )
    return RowProvenance(
        # Trials of before it was written down have the name alone.
        "" if row.kind.claimed else _command(row, revision or row.model),
        [(name, public(value)) for name, value in facts if value],
        parts,
    )


def public(text: str) -> str:
    """Hides the folders of a path: `/home/me/x/model` becomes `…/model`."""
    return FOLDERS.sub("…/", text)


def _all(values: Iterable[Any]) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values if value not in (None, "")))


def _command(row: Row, revision: str) -> str:
    """A `blurb run` command for the same trials.

    :param revision: of the model that they loaded
    """
    configuration = row.configuration
    name = option_to_paste("--name", row.model, row.weights)
    if is_named(row.weights):
        command = f"blurb run {shlex.quote(row.weights)}{name}"
    elif revision.startswith(SELF_MADE):
        command = (
            f"blurb run {shlex.quote(revision)}{option_to_paste('--name', row.model, revision)}"
        )
    else:
        command = f"blurb run MODEL{name}"
    command += option_to_paste("--suite", configuration.suite, "blurb")
    command += "" if configuration.suite == DEMO else " --data DATA"
    # Only the original releases have entity names instead of BLURB's dummies.
    released = {task.name for task in tasks.all() if task.dummified and task.original}
    if configuration.suite != DEMO and any(
        (run.settings.get("relation_input") or DUMMIES[0]) not in DUMMIES
        for name in released & set(row.datasets)
        for run in row.datasets[name].runs.values()
    ):
        command += " --raw RAW"
    # A file's protocol cannot be asked for by the name that rows show.
    command += option_to_paste(
        "--protocol", "PROTOCOL.toml" if configuration.from_file else configuration.protocol
    )
    for key, value in sorted(configuration.overrides.items()):
        command += option_to_paste("--set", public(f"{key}={value}"))
    command += option_to_paste("--precision", configuration.precision, "")
    planned = {task: scores.planned_seeds for task, scores in row.datasets.items()}
    counts = set(planned.values())
    if len(counts) == 1 and (seeds := next(iter(counts))) == tuple(range(1, len(seeds) + 1)):
        command += f" --seeds {len(seeds)}"
    return command + option_to_paste("--tasks", ",".join(planned))
