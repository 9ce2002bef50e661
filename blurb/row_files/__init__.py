"""A row by its name, and as files: ids, labels and a manifest, written and read again; what its answers show."""
