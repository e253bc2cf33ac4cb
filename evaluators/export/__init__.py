"""A kernel file as code that other programs build on."""
