"""One file a metric: the function, its sums over units, and the declaration `METRIC` at the end."""
