"""Studies on finished runs: kinds of mistakes, ablations."""
