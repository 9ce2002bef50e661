"""Obtains and builds corpora: download, archives, original releases, BLURB's layout, and the demo suite."""
