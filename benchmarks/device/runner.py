"""Runs parts on the machine with the card: each in a process of its own, ended when its time is up."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.device import cards, code, parts
from benchmarks.device.cells import Cell, Context, Part, Unfinished
from benchmarks.device.pack import MANIFEST
from benchmarks.device.results import COMPLETE, CUT, FILE, INCOMPLETE, SKIPPED, Results, is_of, read
from blurb.messages.errors import BlurbError

GRACE = 45.0
"""Seconds that a part has beyond its minutes before it is killed."""
CUDA_ERROR = "CUDA error"
"""In the message of an error after which a process cannot use its card any more."""


def run(names: Sequence[str], bundle: Path, out: Path, small: bool, mps: bool) -> list[str]:
    """Runs parts one after the other; returns a line on each.

    :param out: folder that gets the results, beside those in the bundle
    """
    manifest, facts = _manifest(bundle), cards.describe()
    changed = [
        "the code is not what was packed, so its results cannot be merged; unpack into an empty folder"
    ]
    for sentence in changed * manifest["changed"] + cards.differences(manifest, facts):
        print(f"Note: {sentence}", flush=True)
    if not is_of(bundle / "scratch" / FILE, manifest, facts["card"]):
        # Trials of other code or of another card
        shutil.rmtree(bundle / "scratch", ignore_errors=True)
    lines = []
    for name in names:
        part, started = parts.get(name), time.monotonic()
        results = _results(bundle, out, manifest, facts)
        if results.is_complete(name):
            results.write()  # `out` may be another one
            lines.append(f"{name}: complete already")
        elif not small and (why := cards.lacks_gpu(facts)):
            _end(results, name, SKIPPED, why, started)
            lines.append(f"{name}: skipped, {why}")
        else:
            why = _process(part, bundle, out, small, mps)
            results = _results(bundle, out, manifest, facts)
            if why:
                results.part(name)["why"] = why
            lines.append(_line(name, results.part(name), time.monotonic() - started))
            results.write()
        print(lines[-1], flush=True)
    return lines


def are_complete(names: Sequence[str], out: Path) -> bool:
    """Whether nothing of some parts is left to measure."""
    found = read(out / FILE)["parts"]
    return all(found[name]["state"] == COMPLETE for name in names)


def _line(name: str, part: Mapping[str, Any], seconds: float) -> str:
    why = f" ({part['why']}; the same command goes on)" if part["state"] == CUT else ""
    told = "".join(f"\n  {cell}: {reason}" for cell, reason in part["told"].items())
    return f"{name}: {part['state']}{why}, {len(part['cells'])} figures, {seconds:.0f} s{told}"


def _process(part: Part, bundle: Path, out: Path, small: bool, mps: bool) -> str:
    """A part in a process group of its own, of which nothing stays when it ends; what it says goes to a file.

    :returns: why it did not end by itself, or an empty text
    """
    command = [
        sys.executable,
        "-m",
        "benchmarks.device",
        "part",
        part.name,
        "--bundle",
        str(bundle),
        "--out",
        str(out),
    ]
    log = bundle / "scratch" / f"{part.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            [*command, *["--small"] * small, *["--mps"] * mps],
            start_new_session=True,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        try:
            code = process.wait(60 * part.minutes + GRACE)
        except subprocess.TimeoutExpired:
            return f"its {part.minutes:g} minutes were over"
        finally:
            _end_group(process)
    last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or [""]
    return f"its process ended with {code}: {without_folders(last[0])}" if code else ""


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, number)
            process.wait(5)


def run_part(name: str, bundle: Path, out: Path, small: bool, mps: bool) -> None:
    """In the process of a part: measures the cells that have no figures yet, until the time is up."""
    part, started = parts.get(name), time.monotonic()
    context = Context(bundle, small, mps, started + 60 * part.minutes)
    results = _results(bundle, out, _manifest(bundle), cards.describe())
    state, kept = CUT, results.part(name)
    failed_before = set(kept["told"])
    kept |= {"state": CUT, "why": "it was killed", "told": {}}
    results.write()
    # What failed before comes last: after some failures the process cannot go on.
    why, cells = "", sorted(part.cells(context), key=lambda cell: cell.name in failed_before)
    for cell in cells:
        if cell.name in kept["cells"] and not kept["cells"][cell.name].get("unfinished"):
            continue
        if time.monotonic() > context.deadline:
            why = "the time was up"
            break
        if why := _measured(cell, kept, _memory(results)):
            break
        results.write()
        print(f"  {name}: {cell.name}", flush=True)
    else:
        failed = any(
            cell.name not in kept["cells"] and cell.memory <= _memory(results) for cell in cells
        )
        state = INCOMPLETE if failed else COMPLETE
    _end(results, name, state, why, started)


def _memory(results: Results) -> float:
    """GiB of the card."""
    return float(results.head["card"]["memory"])


def end_with_parent() -> None:
    """Ends the group of this process with the process that started it: the next call must not share the card."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.killpg(0, signal.SIGTERM)  # a fine-tuning saves itself

    threading.Thread(target=watch, daemon=True).start()


def _measured(cell: Cell, kept: dict[str, Any], memory: float) -> str:
    """Measures a cell; returns why the part cannot go on, or an empty text.

    :param kept: the part; gets figures, or what is told instead
    :param memory: GiB of the card
    """
    if cell.memory > memory:
        kept["told"][cell.name] = (
            f"not tried: it needs {cell.memory:g} GiB of memory, and there are {memory:g}"
        )
        return ""
    try:
        kept["cells"][cell.name] = dict(cell.measure())
    except Unfinished as unfinished:
        kept["cells"][cell.name] = {**unfinished.figures, "unfinished": True}
        return str(unfinished)
    except subprocess.TimeoutExpired:
        kept["told"][cell.name] = "failed: the time was up"
    except Exception as error:  # noqa: BLE001  (whatever it is, the other measurements go on)
        kept["told"][cell.name] = f"failed: {type(error).__name__}: {without_folders(str(error))}"
        return (
            "the card cannot be used any more in this process" if CUDA_ERROR in str(error) else ""
        )
    finally:
        _free()
    return ""


def _free() -> None:
    """Returns the memory of a measurement to the card: an encoder is in a cycle of references."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        with contextlib.suppress(RuntimeError):  # after an error of CUDA
            torch.cuda.empty_cache()


def without_folders(text: str) -> str:
    """The first line of a message, with the names of files but not the folders of the machine.

    >>> without_folders("[Errno 2] No such file: '/home/me/x.json'")
    "[Errno 2] No such file: 'x.json'"
    """
    return re.sub(r"(?:/[\w.+@-]+)+/(?=[\w.+@-])", "", (text.splitlines() or [""])[0])[:200]


def _end(results: Results, name: str, state: str, why: str, started: float) -> None:
    part = results.part(name)
    part |= {
        "state": state,
        "why": why,
        "seconds": round(part["seconds"] + time.monotonic() - started, 1),
    }
    results.write()


def _manifest(bundle: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((bundle / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BlurbError(
            "no bundle of benchmarks.device", where=bundle, fix="unpack one and use its run.sh."
        ) from error
    return {**manifest, "changed": manifest.get("digest") != code.digest(bundle / "code")}


def _results(
    bundle: Path, out: Path, manifest: Mapping[str, Any], facts: Mapping[str, Any]
) -> Results:
    paths = tuple(dict.fromkeys((bundle / "scratch" / FILE, out / FILE)))
    return Results(paths, manifest, facts, cards.differences(manifest, facts))
