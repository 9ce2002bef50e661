"""Messages to people: errors with parts, words, redaction."""
