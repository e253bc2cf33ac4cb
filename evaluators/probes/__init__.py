"""Probes: kernel files whose launches are not scored, and what they tell of a device."""
