"""Baselines that a task's author trusts, at work: torch, numpy, and calls of libraries."""
