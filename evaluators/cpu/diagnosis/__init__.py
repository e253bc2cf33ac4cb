"""What the cpu engine and its compiler made of a kernel's loops, in lines of the kernel file."""
