"""Prompts: Jinja templates as package data, and what renders them."""
