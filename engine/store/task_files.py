"""A task folder's files as they travel: with a campaign's store, and to other nodes."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from engine.store.run_folder import STORE
from evaluators.tasks.arguments import TaskError

MOST_BYTES = 16 << 20
"""Of all files together. A task states what kernels compute; data sets have other ways."""

MOST_FILES = 2000

LEFT_OUT = ("__pycache__",)
"""Folders that are made again. Hidden files and campaigns do not travel either."""


def files_of(folder: Path) -> dict[str, bytes]:
    """By path below the folder, with / between its parts. A link to a file travels as the file.

    Raises TaskError: too many or too large, a link to a folder, one that can't be read.
    """
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    try:
        for path in _paths(folder):
            left -= path.stat().st_size
            if left < 0 or len(found) == MOST_FILES:
                raise TaskError(
                    f"{folder}: its files are more than {MOST_FILES} or {MOST_BYTES >> 20} MiB, so "
                    "they don't travel with the campaign; move what kernels are not checked with "
                    "out of it"
                )
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    except OSError as error:
        raise TaskError(f"{error.filename}: it can't be read ({error.strerror})") from None
    return found


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """The folder holds these files and no others, in one step. files: as of files_of().

    Raises TaskError: a path that leads out of it, or it can't be written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            _write(files, made)
            made.chmod(0o755)
            _put(made, folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise TaskError(f"{folder}: it can't be written ({error.strerror})") from None


def holds(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Whether it has these files and no others."""
    try:
        return folder.is_dir() and files_of(folder) == files
    except TaskError:
        return False


def _paths(folder: Path) -> Iterator[Path]:
    """Its regular files, in the same order everywhere."""
    for root, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if _travels(Path(root, name)))
        for name in folders:
            if Path(root, name).is_symlink():
                raise TaskError(
                    f"{Path(root, name)} is a link to a folder, and would lead nowhere where the "
                    "task travels to; put the folder itself there"
                )
        for path in (Path(root, name) for name in sorted(names)):
            if not path.name.startswith(".") and path.suffix != ".pyc" and path.is_file():
                yield path


def _raise(error: OSError) -> None:
    raise error


def _travels(folder: Path) -> bool:
    if folder.name.startswith(".") or folder.name in LEFT_OUT:
        return False
    return not (folder / STORE).exists() and next(folder.glob(f"*/{STORE}"), None) is None


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts:
            raise TaskError(f"{name!r} is no path of a task's file: it leads out of its folder")
        path = folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _put(made: Path, folder: Path) -> None:
    """In the place of what is there. Another process that does the same may be faster."""
    old = made.with_name(made.name + "-old")
    try:
        if folder.exists():
            folder.rename(old)
        made.rename(folder)
    finally:
        shutil.rmtree(old, ignore_errors=True)
