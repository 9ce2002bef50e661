"""The machine: leases, signals, files, caches."""
