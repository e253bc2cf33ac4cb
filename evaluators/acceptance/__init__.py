"""What a real device is put through before it is trusted: `kernel-scientist doctor --device`."""
