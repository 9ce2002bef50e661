"""Options that reports add to commands of others: pictures."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click


@dataclass(frozen=True)
class PlotFile:
    """A picture to write of what a command found.

    :param module: of `blurb.extensions.reports.plots`, with a `check` and a `write`
    """

    path: Path
    module: str

    def check(self) -> None:
        """Raises a SettingsError if no picture could be written there; writes nothing."""
        self._drawn_by.check(self.path)

    def write(self, *given: Any) -> None:
        """Writes the picture.

        :param given: what the module's `write` takes before the path
        """
        self._drawn_by.write(*given, self.path)

    @property
    def _drawn_by(self) -> Any:
        return import_module(f"blurb.extensions.reports.plots.{self.module}")


def _plot(module: str, about: str) -> click.Option:
    def picture(context: click.Context, parameter: click.Parameter, value: Path | None) -> PlotFile | None:
        return None if value is None else PlotFile(value, module)

    kind = click.Path(path_type=Path, dir_okay=False)
    return click.Option(["--plot"], type=kind, metavar="FILE", callback=picture, help=about)


FOREST = _plot("forest", "Also write a forest plot: .png, .svg or .pdf (needs the extra 'plots').")
CELLS = _plot("ablation", "Also plot the cells to a .png, .svg or .pdf (needs the extra 'plots').")
