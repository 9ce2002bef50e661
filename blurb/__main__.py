"""`python -m blurb`."""

from blurb.cli import main

main()
