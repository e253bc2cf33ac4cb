"""Campaigns as jobs of a Ray cluster: send, list, follow, stop and resume them."""
