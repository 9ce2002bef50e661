"""The store on disk: trials and their hash, provenance, predictions, rows, and the index."""
