"""The part of torch.utils that a submission imports."""
