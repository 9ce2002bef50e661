"""The command `blurb`, also as `python -m blurb`: Ctrl-C ends it without a traceback also while modules load."""

from __future__ import annotations

import atexit
import os
import signal
import sys


def main() -> None:
    """Runs the command line; until its own handler is set (`blurb.cli._exit`), there is nothing to clean up."""
    # A command in the background of a script ignores the signal already.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, raise_exit)
    if hasattr(signal, "pthread_sigmask"):
        # Where code of C was interrupted, Python ends by SIGINT whatever the exit code is; blocked, it exits with 130.
        atexit.register(signal.pthread_sigmask, signal.SIG_BLOCK, [signal.SIGINT])
    if "OMP_WAIT_POLICY" not in os.environ:
        # Beside other programs, threads that wait for each other by spinning, 300,000 times, keep each other from the
        # cores (docs/performance.md). GNU's OpenMP reads this as torch is loaded.
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    # The handler is for the seconds that this import takes.
    from blurb.cli import main as command

    command()


def raise_exit(number: int, frame: object) -> None:
    sys.stderr.write("Interrupted.\n")
    sys.stderr.flush()
    os._exit(128 + number)


if __name__ == "__main__":
    main()
