"""The command kernel-scientist."""
