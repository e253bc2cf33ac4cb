"""What a program with kernels says, read and never run: kernels, launches, memory, sizes."""
