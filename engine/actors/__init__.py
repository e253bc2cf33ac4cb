"""What Ray runs. Ray is imported here only, and where a job is submitted."""
