"""What a kernel file says: its front matter, its launch plans, and what its source may hold."""
