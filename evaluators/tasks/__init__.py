"""What a kernel must compute: arguments, task files, and the tasks that are shipped."""
