"""The store: what happened, in order, and what follows from it."""
