"""The leaderboard as one HTML file that needs no server, network or library (docs/extensions/reports.md)."""

from __future__ import annotations

from blurb.extensions.reports.html.collect import collect
from blurb.extensions.reports.html.render import render

__all__ = ["collect", "render"]
