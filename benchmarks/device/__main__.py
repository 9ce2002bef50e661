"""Packs a bundle, runs its parts on a machine with a card, and merges what comes back.

python -m benchmarks.device pack build/device.tar.gz --data DATA    # here
cat device.tar.gz* | tar xz && blurb-device/run.sh --out FOLDER     # there; device.json is what comes back
python -m benchmarks.device merge FOLDER                            # here: docs/results/device, docs/performance.md
python -m benchmarks.device rehearse                                # here: all of it with tiny figures, on the CPU
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.device import merge, pack, parts, rehearsal, runner
from blurb.messages.errors import BlurbError


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    whole = argparse.ArgumentParser(
        prog="python -m benchmarks.device",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = whole.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack", help="write a bundle for another machine")
    packing.add_argument("out", type=Path, help="file, ending in .tar.gz")
    packing.add_argument("--data", type=Path, help="folder in BLURB's layout")
    packing.add_argument(
        "--wheels", type=Path, help="folder of wheels  [default: those that pip gets]"
    )
    packing.add_argument(
        "--python", default="3.12", help="version on the other machine  [default: 3.12]"
    )
    packing.add_argument(
        "--dirty", action="store_true", help="pack changes of tracked files, too, for trying only"
    )
    packing.add_argument(
        "--parts", action="store_true", help="split a bundle that is larger than the limit"
    )
    packing.add_argument(
        "--limit", type=float, default=pack.LIMIT, help="MiB  [default: %(default)s]"
    )
    packing.add_argument(
        "--small", action="store_true", help="for a rehearsal: demo suite, tiny encoder, no wheels"
    )
    for verb, help_ in (
        ("run", "measure parts of an unpacked bundle (run.sh calls it)"),
        ("part", argparse.SUPPRESS),
    ):
        running = verbs.add_parser(verb, help=help_)
        running.add_argument(
            "parts", nargs="*", metavar="PART", help=f"of {', '.join(parts.PARTS)}  [default: all]"
        )
        running.add_argument("--bundle", type=Path, required=True)
        running.add_argument(
            "--out", type=Path, default=Path("results"), help="folder for device.json"
        )
        running.add_argument(
            "--caller", type=Path, default=Path(), help="folder that --out is relative to"
        )
        running.add_argument(
            "--small", action="store_true", help="tiny figures, on the CPU if there is no GPU"
        )
        running.add_argument(
            "--mps", action="store_true", help="NVIDIA's multi-process service may be started"
        )
    merging = verbs.add_parser("merge", help="take results into docs")
    merging.add_argument("folder", type=Path)
    rehearsing = verbs.add_parser(
        "rehearse", help="pack, run and merge tiny figures, in a temporary clone"
    )
    rehearsing.add_argument("parts", nargs="*", metavar="PART")
    return whole


def main() -> None:
    """Exit code 2 if nothing could be done, 1 if a part is not complete."""
    options = parser().parse_args()
    try:
        sys.exit(_run(options))
    except BlurbError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)


def _run(options: argparse.Namespace) -> int:
    if options.verb == "pack":
        asked = pack.Asked(
            out=options.out,
            data=options.data,
            wheels=options.wheels,
            python=options.python,
            dirty=options.dirty,
            split=options.parts,
            small=options.small,
            limit=options.limit,
        )
        for path in pack.pack(asked):
            print(f"{path}: {path.stat().st_size / pack.MIB:.1f} MiB")
        return 0
    if options.verb == "run":
        names = [parts.get(name).name for name in options.parts or parts.PARTS]
        out = (options.caller / options.out).resolve()
        runner.run(names, options.bundle.resolve(), out, options.small, options.mps)
        return int(not runner.are_complete(names, out))
    if options.verb == "part":
        runner.end_with_parent()
        runner.run_part(options.parts[0], options.bundle, options.out, options.small, options.mps)
        return 0
    if options.verb == "rehearse":
        return rehearsal.rehearse(options.parts)
    print("\n".join(merge.merge(options.folder)))
    return 0


if __name__ == "__main__":
    main()
