"""Text that people name by its path: a kernel, a task's file, a configuration, findings."""

import errno
from pathlib import Path

MOST_CHARACTERS = 16 * 2**20


def read_text(path: Path, errors: str = "strict") -> str:
    """UTF-8; errors: as of open(). What has no end, as /dev/zero, isn't read to it.

    Raises OSError (with a strerror), UnicodeDecodeError.
    """
    with path.open(encoding="utf-8", errors=errors) as file:
        text = file.read(MOST_CHARACTERS + 1)
    if len(text) > MOST_CHARACTERS:
        raise OSError(errno.EFBIG, f"it is longer than {MOST_CHARACTERS} characters", str(path))
    return text
