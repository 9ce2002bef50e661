"""The cost of a run, time and memory, before it starts (`model.py`), corrected by `history.py`."""
