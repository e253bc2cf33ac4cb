"""Landlock: this process, and all that it starts, sees no file but those it names.

Source: Linux's Documentation/userspace-api/landlock.rst and include/uapi/linux/landlock.h. The
numbers of the calls are the same on every architecture. Imports what confine.py may import only.
"""

import ctypes
import os
import struct

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38  # of prctl

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << bit for bit in range(4))
_TRUNCATE = 1 << 14
_IOCTL_DEVICE = 1 << 15
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights over files by the first version that knows them."""

READ = EXECUTE | READ_FILE | READ_DIR
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_ABSTRACT_SOCKETS_AND_SIGNALS = 3  # of other processes; from version 6 on


def version() -> int:
    """Landlock's, from 1 on; 0 where the kernel has none, or this process may not use it."""
    found: int = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(found, 0)


def restrict(reads: list[str], writes: list[str]) -> bool:
    """From now on this thread, and what it starts, reads and runs only what is below reads.

    Below writes it may do everything. What is not there is passed over; open files stay open.
    False where there is no Landlock, and nothing changed. Raises OSError.
    """
    known = version()
    if known == 0:
        return False
    every = max(rights for first, rights in _RIGHTS.items() if first <= known)
    ruleset = _call(_CREATE_RULESET, *_attributes(known, every), 0)
    try:
        for path in reads:
            _allow(ruleset, path, READ & every)
        for path in (*writes, "/dev/null"):
            _allow(ruleset, path, every)
        libc = _libc()
        if libc.prctl(_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))):
            raise OSError(ctypes.get_errno(), "no_new_privs")
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return True


def _attributes(known: int, every: int) -> tuple[bytes, ctypes.c_size_t]:
    """struct landlock_ruleset_attr as far as this version knows it: files, network, scopes."""
    held = struct.pack("=QQQ", every, 0, _ABSTRACT_SOCKETS_AND_SIGNALS)
    held = held[: 24 if known >= 6 else 16 if known >= 4 else 8]
    return held, ctypes.c_size_t(len(held))


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        if not os.path.isdir(path):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)  # struct landlock_path_beneath_attr
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    found: int = _libc().syscall(number, *arguments)
    if found < 0:
        raise OSError(ctypes.get_errno(), f"Landlock's call {number}")
    return found
