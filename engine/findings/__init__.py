"""Findings: short rules that a campaign's results bear out, kept for it and for later ones."""
