"""The cost of a run, time and memory, before it starts (`estimator.py`, `work.py`), and the protocol that fits a budget."""
