"""Ports at which nothing listens, and that nobody is given before a test uses them."""

import random
import socket

PORTS = range(20000, 32000)
"""Above those that Ray gives its workers, below those that Linux gives to whoever asks for any:
one of these may be gone by the time that a server, slow to start, binds it."""


def free_port() -> int:
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
