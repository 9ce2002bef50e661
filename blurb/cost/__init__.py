"""What a run will take: time, memory and disk, before it starts (`model.py`), corrected by `history.py`."""
