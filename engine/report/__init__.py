"""A campaign's report: one page that says what was found, and whether to believe it."""
