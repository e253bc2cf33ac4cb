"""The commands that help to write a task."""
