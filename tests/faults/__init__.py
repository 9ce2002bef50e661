"""Faults for real: kills, disks, damage, clocks, networks.

After each nothing finished is lost or counted twice, no cell is wrong, and an exit code and a sentence say what
happened.

`make test` runs a few of each; `make chaos` runs hundreds, and what it saw is in docs/reliability.md.
"""
