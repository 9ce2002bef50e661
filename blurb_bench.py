"""The command `blurb-bench`: that of `blurb`, unless another distribution's `blurb` lies in the place of ours.

CPython's news tool installs a package and a command of the same name, and the later installation replaces files of the
earlier one. What was replaced cannot say so, hence this module beside the package.
"""

from __future__ import annotations

import sys

MIXED = """Error: The package `blurb` is not that of blurb-bench: the distribution `blurb` (CPython's news tool) has
replaced or removed its files. Both install a package of this name, so an environment can have one of them. To keep
this one:

    pip uninstall blurb
    pip install --force-reinstall --no-deps blurb-bench    # in a checkout: . instead of the name
"""


def main() -> None:
    """Runs the command line, or says that the package is not ours and how to mend it, with exit code 2."""
    import blurb

    if not hasattr(blurb, "DISTRIBUTION"):
        sys.stderr.write(MIXED)
        sys.exit(2)
    from blurb.__main__ import main as command

    command()
