"""The training loop of the encoder learner, its batches, optimizer and hardware settings."""
