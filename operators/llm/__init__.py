"""What to try next, asked of language models."""
