"""Scores for predictions of any tool: a file of answers in, BLURB's metric out (`blurb score`, docs/score.md).

`files` reads answers from a file, `values` turns them into answers of the task, `matching` finds the example of each,
`gold` has the examples and what is known of their data, `scores` is the result, `storing` writes it as a trial.
"""
