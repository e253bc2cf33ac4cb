"""The cuda backend: NVIDIA's GPUs through cuda-bindings and NVRTC."""
