"""The lab: encoders pretrained at a small scale, and attention that one can look at."""
