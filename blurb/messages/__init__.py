"""What is told to people: errors with parts, words, redaction."""
