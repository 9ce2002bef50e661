"""Does another commit give the same bits? Old and new code side by side, in one go, on one machine.

    OMP_NUM_THREADS=2 python -m benchmarks.same_bits OLD_COMMIT [--data DIR]

Both checkouts are given the same trials: every task type with every learner, head, pooling and relation input on demo
data; with `--data`, every task type with the main learners on 300 examples of the real data; a trial that is killed and
resumed. Then the commands that judge: tables, compare, check, estimates. Equal must be: folders of trials (their names
are hashes), predictions, scores of models, histories, metrics, every cell of the tables, and every figure that a
command prints (words may differ). Exit code 1 if anything differs. Only the front door is used: `blurb.run` and
`python -m blurb`, which both commits have.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
TASKS = {
    "ner": "ncbi-disease",
    "pico": "ebm-pico",
    "relation": "chemprot",
    "similarity": "biosses",
    "document": "hoc",
    "qa": "pubmedqa",
}
LEARNERS = ("scratch:tiny", "baseline:majority", "baseline:constant", "baseline:bigrams")
FROM_NOTHING = ("baseline:bilstm", "baseline:transformer")
HEADS = ("linear", "bilstm", "crf", "bilstm-crf")
POOLINGS = (
    "cls",
    "cls-pooler",
    "mean",
    "cls-mean",
    "attention",
    "attention-dot",
    "attention-general",
)
MENTIONS = ("mention", "mention-mean", "cls-mean-mentions", "entity-start")
INPUTS = ("dummify", "dummy-tokens", "original", "markers", "typed-markers")
JUDGES = (
    "leaderboard show --format csv",
    "leaderboard show",
    "compare scratch-tiny baseline:bigrams",
    "runs",
    "status --format json",
    "check scratch-tiny --baseline scratch-tiny",
    "check baseline:majority --baseline baseline:bigrams --max-drop 1",
    "run scratch:tiny --suite demo --protocol quick --device cpu --dry-run",
    "export latex scratch-tiny --out latex",
    "errors scratch-tiny --task ncbi-disease --format json",
    "rescore",
)
"""Commands whose figures are compared, in a folder with the rows of all learners."""
CHANGES = {"provenance.json", "log.txt", "DONE.json"}
"""Files of a trial that name versions, times and each other's hashes."""


def runs(data: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls of `blurb.run` by the name of their folder."""
    for learner in LEARNERS:
        yield "learners", {"model": learner, "tasks": ",".join(TASKS.values())}
    for learner in FROM_NOTHING:  # these train for as long as the real data asks for
        yield "learners", {"model": learner, "tasks": "ncbi-disease,biosses"}
    yield "probe", {"model": "scratch:tiny", "tasks": ",".join(TASKS.values()), "protocol": "probe"}
    for head in HEADS:
        for tagging in ("io", "bio", "bioul"):
            yield "heads", {"tasks": "ncbi-disease", "head": head, "tagging": tagging}
        for word_pooling in ("first", "mean", "last"):
            yield "heads", {"tasks": "ebm-pico", "head": head, "word_pooling": word_pooling}
    for pooling in POOLINGS:
        yield "poolings", {"tasks": "gad,biosses,hoc,pubmedqa", "pooling": pooling}
    yield "poolings", {"tasks": "biosses", "pooling": "cosine"}
    yield "poolings", {"tasks": "chemprot,biosses,hoc,pubmedqa", "head": "bilstm"}
    for relation_input in INPUTS:
        yield "inputs", {"tasks": "chemprot,ddi", "relation_input": relation_input}
        for pooling in MENTIONS:
            if pooling != "entity-start" or "markers" in relation_input:
                yield (
                    "inputs",
                    {"tasks": "chemprot", "relation_input": relation_input, "pooling": pooling},
                )
    if data:
        tasks = ",".join(
            task
            for task in TASKS.values()
            if task != "ebm-pico" or (data / "ebmnlp/train.tsv").is_file()
        )
        for learner in ("scratch:tiny", "baseline:bigrams"):
            yield (
                "real",
                {"model": learner, "tasks": tasks, "data": data, "protocol": "smoke", "limit": 300},
            )


def run_all(out: Path, data: Path | None, only: str) -> None:
    """All runs, or those of one folder, by the `blurb` that is imported here."""
    import blurb

    for number, (folder, options) in enumerate(
        each for each in runs(data) if only in ("", each[0])
    ):
        given = {
            "model": "scratch:tiny",
            "protocol": "smoke",
            "precision": "fp32",
            "device": "cpu",
        } | options
        place = out / folder
        suite = {} if "data" in given else {"suite": "demo"}
        given |= {"output": place / "runs", "leaderboard": place / "runs/leaderboard.csv"}
        result = blurb.run(progress=False, **suite, **given)
        for failed in result.failed:
            print(f"{number} {options}: {failed}", file=sys.stderr)


def killed_and_resumed(python: list[str], env: Mapping[str, str], place: Path) -> None:
    """A trial is told to end after its first epoch, and killed outright in the next call; the third one ends it."""
    place.mkdir(parents=True)
    asked = "run scratch:tiny --suite demo --tasks ncbi-disease --protocol smoke --set epochs=6 --precision fp32"
    command = [*python, "-m", "blurb", *f"{asked} --device cpu --resume-trials".split()]
    for number in (signal.SIGTERM, signal.SIGKILL):
        process = subprocess.Popen(
            command, cwd=place, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        before = {path.stat().st_mtime_ns for path in checkpoints(place)}
        while (
            process.poll() is None
            and {path.stat().st_mtime_ns for path in checkpoints(place)} <= before
        ):
            time.sleep(0.01)
        process.send_signal(number)
        process.wait()
    subprocess.run(command, cwd=place, env=env, check=True, capture_output=True)


def checkpoints(place: Path) -> list[Path]:
    """What a trial has saved of itself so far."""
    with contextlib.suppress(OSError):
        return [
            path
            for path in place.glob("runs/*/*/.*/**/*")
            if path.suffix in (".pt", ".safetensors")
        ]
    return []


def trials(out: Path) -> dict[str, Any]:
    """What every trial says, by its folder and file."""
    import pandas as pd

    found: dict[str, Any] = {}
    for path in sorted(out.glob("*/runs/*/*/*/*")):
        name = str(path.relative_to(out))
        if not path.is_file() or path.name in CHANGES or path.parent.name.startswith("."):
            continue
        if path.suffix == ".parquet":
            found[name] = pd.read_parquet(path).to_dict("list")
        elif path.suffix == ".json":
            # The order of keys is free
            content = json.loads(json.dumps(json.loads(path.read_text()), sort_keys=True))
            found[name] = {key: value for key, value in content.items() if key != "schema"}
        elif path.suffix == ".csv":
            table = pd.read_csv(path)
            found[name] = table.drop(
                columns=[column for column in table if "second" in column]
            ).to_dict("list")
    for path in sorted([*out.glob("*/*.csv"), *out.glob("*/runs/*.csv")]):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        free = ("schema", "seconds", "blurb", "time", "started", "version")
        kept = [column for column in table if not any(word in column for word in free)]
        found[f"{path.relative_to(out).parts[0]}/{path.name}"] = {
            column: table[column].tolist() for column in kept
        }
    return found


def figures(python: list[str], env: Mapping[str, str], place: Path) -> dict[str, Any]:
    """The figures that commands print, by command."""
    found = {}
    for command in JUDGES:
        done = subprocess.run(
            [*python, "-m", "blurb", *command.split()],
            cwd=place,
            env=env,
            capture_output=True,
            text=True,
        )
        # What follows was measured on the spot
        told = done.stdout.partition("Nothing was run or written")[0]
        text = re.sub(
            r"\d{4}-\d\d-\d\d[ T][\d:]+|[0-9a-f]{12,}|\d+(\.\d+)? ?(s|ms|seconds|MB|GB)\b", "", told
        )
        found[command] = [done.returncode, *re.findall(r"\d+(?:\.\d+)?", text)]
    return found


def measured(code: Path, out: Path, home: Path, data: Path | None, only: str) -> dict[str, Any]:
    """All that one checkout says, or what is in one folder."""
    env = {
        **os.environ,
        "PYTHONPATH": str(code),
        "BLURB_HOME": str(home),
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "200",
    }
    python = [sys.executable, "-P"]
    inner = [
        *python,
        __file__,
        "--inside",
        str(out),
        "--only",
        only,
        *(["--data", str(data)] if data else []),
    ]
    start = time.time()
    subprocess.run(inner, env=env, check=True, cwd=out.parent)
    if only in ("", "resumed"):
        killed_and_resumed(python, env, out / "resumed")
    for table in out.glob("*/runs/*.csv"):  # where commands looked for it before schema 1
        shutil.copy(table, table.parent.parent)
    found = trials(out)
    if only in ("", "learners"):
        found |= figures(python, env, out / "learners")
    print(f"{code.name}: {len(found)} things in {time.time() - start:.0f} s", file=sys.stderr)
    return found


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Names of what is not the same, with what differs."""
    lines = [
        f"{name}: only in the {'old' if name in old else 'new'}"
        for name in sorted(set(old) ^ set(new))
    ]
    for name in sorted(set(old) & set(new)):
        # Repr: NaN is equal to NaN, and a bit is a digit
        first, second = (repr(old[name]), repr(new[name]))
        if first != second:
            place = next(
                (
                    n
                    for n, pair in enumerate(zip(first, second, strict=False))
                    if pair[0] != pair[1]
                ),
                -1,
            )
            start = max(0, place - 60)
            lines.append(
                f"{name}:\n    old ...{first[start : place + 60]}\n    new ...{second[start : place + 60]}"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", nargs="?")
    parser.add_argument("--data", type=lambda path: Path(path).resolve())
    parser.add_argument(
        "--only",
        default="",
        help="learners, probe, heads, poolings, inputs, real or resumed; default: all",
    )
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        run_all(options.inside, options.data, options.only)
        return
    work = Path(tempfile.mkdtemp(prefix="same-bits-"))
    old = work / "old"
    subprocess.run(
        ["git", "worktree", "add", "--quiet", "--detach", str(old), options.commit],
        cwd=HERE,
        check=True,
    )
    try:
        results = []
        for name, code in (("out-old", old), ("out-new", HERE)):
            (work / name).mkdir()
            results.append(measured(code, work / name, work / "home", options.data, options.only))
        lines = differences(*results)
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(old)], cwd=HERE, check=False)
        shutil.rmtree(work, ignore_errors=True)
    trial_count = sum(name.endswith("spec.json") for name in results[1])
    print(
        "\n".join(lines)
        or f"the same bits: {trial_count} trials, {len(results[1])} files, tables and commands"
    )
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
