"""Without Matplotlib these files are not collected; everything else is."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("matplotlib") else ["test_*.py"]
