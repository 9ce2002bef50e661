"""Terminal output: printed tables, estimates, the progress of trials."""
