"""Making trials happen: the worker, sweeps, the job queue, and engines."""
