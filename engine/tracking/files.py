"""The files of a run folder that MLflow is shown: each again when it has changed."""

from collections.abc import Iterator
from pathlib import Path

from engine.store.run_folder import FINDINGS, PLOTS, REPORT

NAMES = (REPORT, "summary.json", FINDINGS)

MOST_BYTES = 20_000_000
"""A larger file stays where it is."""


class RunFiles:
    """Remembers which version of each file was shown."""

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._shown: dict[Path, tuple[int, int]] = {}

    def changed(self) -> Iterator[tuple[Path, str | None]]:
        """Each file that is new or another one by now, and the artifacts' folder it belongs in.

        One counts as shown once the next is asked for.
        """
        for path in self._there():
            try:
                state = path.stat()
            except OSError:
                continue  # a new version is just being put in place
            version = state.st_mtime_ns, state.st_size
            if self._shown.get(path) == version or state.st_size > MOST_BYTES:
                continue
            yield path, PLOTS if path.parent != self._run_dir else None
            self._shown[path] = version

    def _there(self) -> Iterator[Path]:
        for name in NAMES:
            if (self._run_dir / name).is_file():
                yield self._run_dir / name
        yield from sorted((self._run_dir / PLOTS).glob("*.svg"))
