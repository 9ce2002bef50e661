"""What a store and its commands cost by the number of trials (docs/scale.md)."""
