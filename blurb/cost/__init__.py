"""The cost of a run, time and memory, before it starts (`estimator.py`, `work.py`), and what fits a budget."""
