"""What a store and its commands cost by the number of trials (docs/long-runs.md)."""
