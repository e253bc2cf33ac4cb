"""Campaigns compared: which configuration is better, by how much, and whether that is shown."""
