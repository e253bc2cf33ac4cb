"""From a program with a kernel to a task: what its signature, launch and host code tell."""
