"""What models write, made sense of: objects, numbers and kernel files in a reply's text."""
