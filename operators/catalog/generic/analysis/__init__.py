"""What the syntax tree of a kernel says, without changing it."""
