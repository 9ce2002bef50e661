"""What strangers make and users only look at: stores, sweeps, kept models. None of it runs code."""
