"""What a run will take: time and memory, before it starts (`model.py`), corrected by `history.py`."""
