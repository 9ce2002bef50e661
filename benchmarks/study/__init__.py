"""The protocol study: do the cheap protocols order encoders as the dear one does? See docs/results/protocol-study."""

from pathlib import Path

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "protocol-study"
