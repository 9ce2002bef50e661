"""Options that reports add to commands of others: pictures."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from blurb.extensions.reports.plots import _style


@dataclass(frozen=True)
class PlotFile:
    """A picture to write of what a command found.

    :param module: of `blurb.extensions.reports.plots`, with a `write`
    """

    path: Path
    module: Any

    def check(self) -> None:
        """Raises a SettingsError if no picture could be written there; writes nothing."""
        _style.check(self.path)

    def write(self, *given: Any) -> None:
        """Writes the picture.

        :param given: what the module's `write` takes before the path
        """
        self.module.write(*given, self.path)


def _plot(module: str, about: str) -> click.Option:
    place = f"blurb.extensions.reports.plots.{module}"
    return click.Option(
        ["--plot"],
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        callback=lambda context, parameter, path: path and PlotFile(path, import_module(place)),
        help=about,
    )


FOREST = _plot("forest", "Also write a forest plot: .png, .svg or .pdf (needs the extra 'plots').")
CELLS = _plot("ablation", "Also plot the cells to a .png, .svg or .pdf (needs the extra 'plots').")
