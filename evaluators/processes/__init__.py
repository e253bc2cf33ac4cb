"""Measuring in a process of its own, replaced after a fault; who stands in for a device."""
