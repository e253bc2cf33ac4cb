"""Source that people bring: its headers, names and host code, and what is told of them."""
