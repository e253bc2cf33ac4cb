"""Processes that are not trusted, or may die: confined, framed, supervised."""
