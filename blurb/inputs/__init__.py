"""From examples to token ids: alignment of words and sub-tokens, pairs, windows, tagging schemes."""
