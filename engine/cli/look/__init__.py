"""The commands that look at campaigns."""
