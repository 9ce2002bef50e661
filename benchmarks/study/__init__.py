"""The protocol study: do the cheap protocols order encoders as the dear one does? See docs/results/protocol-study."""
