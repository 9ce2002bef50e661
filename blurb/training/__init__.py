"""The loop of the encoder learner, its batches and optimizer, and what the hardware can do."""
