"""The loop of the encoder learner, its batches, and the protocols."""
