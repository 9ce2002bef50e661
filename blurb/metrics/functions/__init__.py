"""One module per metric: the function, its sums over examples, and the declaration `METRIC`."""
