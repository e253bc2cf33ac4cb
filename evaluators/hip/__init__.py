"""The hip backend: AMD's GPUs through hip-python and hiprtc."""
