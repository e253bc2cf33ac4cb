"""Runs gfx942's machine code without a GPU, behind the Driver protocol."""
