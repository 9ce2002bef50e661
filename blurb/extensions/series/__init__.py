"""The checkpoints of pretraining runs as a series: found, scored, watched, searched for the first bad one."""
