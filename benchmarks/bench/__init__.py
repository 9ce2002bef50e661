"""`make bench`: everything that is claimed of speed, measured in one go, as JSON, pictures and docs/performance.md."""
