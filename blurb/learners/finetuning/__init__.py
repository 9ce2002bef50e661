"""Fine-tuning: a network of encoder, featurizer and head, and trained models on disk."""
