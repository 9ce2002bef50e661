"""Getting and making corpora, once a machine: download, archives, originals, building the layout, the demo suite."""
