"""Trials and their hashes, the store on disk, the plan of a run, and the engines that execute it."""
