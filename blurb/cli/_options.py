"""Options that several commands share; those of commands that train are in `blurb.planning.options`."""

from __future__ import annotations

from blurb.options import Option

TASKS = Option(help="Task names or types, comma-separated.", flag="--tasks", complete="tasks")
TASKS_OR_FILES = Option(help="Task names, types or files, comma-separated.", flag="--tasks", complete="tasks")
DATA = Option(help="Data folder in BLURB's layout.")
LEADERBOARD = Option(
    help="Table to rebuild instead of leaderboard.csv in the store; its runs go into results.csv in the same folder, "
    "or NAME-results.csv for NAME.csv."
)
LEADERBOARD_AFTER = Option(
    help="Table to rebuild afterwards, if it belongs to the store, instead of leaderboard.csv in it.",
    flag="--leaderboard",
)
RESULTS = Option(help="Also show the rows of this results.csv (repeatable).", metavar="FILE", path="file")
TOGETHER = Option(help="Rank predictions from elsewhere with the published rows and protocols of papers.")
HEAD = Option(help="The head, if it is a file of your own; a model or trial brings no code.", metavar="FILE.py:NAME")
POOLING = Option(help="The pooling, if it is a file of your own.", metavar="FILE.py:NAME")
