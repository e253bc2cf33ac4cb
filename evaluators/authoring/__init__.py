"""Writing tasks: a working example, a draft from a kernel's file, and what is wrong with a task."""
