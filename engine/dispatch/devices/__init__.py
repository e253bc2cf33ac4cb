"""Devices as the dispatcher sees them: they come and go, fall ill, and are waited for."""
