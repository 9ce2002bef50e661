"""Without Matplotlib these files are not collected; everything else is."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("matplotlib") else ["test_*.py"]
