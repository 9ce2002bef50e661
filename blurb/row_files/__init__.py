"""A row as files: ids, labels and a manifest, written and read again."""
