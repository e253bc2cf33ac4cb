"""Files that people name: what can't be read is told, also what has no end."""

from pathlib import Path

import pytest

from engine.config_errors import ConfigError
from engine.config_file import load_config
from engine.findings.reader import FindingsError, read_findings
from evaluators.tasks.task import TaskError
from evaluators.tasks.task import read_text as read_task_file
from evaluators.text_file import MOST_CHARACTERS, read_text

ENDLESS = Path("/dev/zero")


def test_text_is_read_whole_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("ä" * MOST_CHARACTERS, encoding="utf-8")
    assert len(read_text(file)) == MOST_CHARACTERS
    file.write_text("a" * (MOST_CHARACTERS + 1))
    with pytest.raises(OSError, match="longer than") as caught:
        read_text(file)
    assert caught.value.strerror == f"it is longer than {MOST_CHARACTERS} characters"


def test_other_text_than_utf_8_is_refused_or_kept_as_asked(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"a\xff")
    with pytest.raises(UnicodeDecodeError):
        read_text(file)
    assert read_text(file, "surrogateescape") == "a\udcff"


def test_what_has_no_end_is_told() -> None:
    with pytest.raises(ConfigError, match="/dev/zero: the configuration can't be read: it is lo"):
        load_config(ENDLESS)
    with pytest.raises(FindingsError, match="/dev/zero can't be read: it is longer"):
        read_findings(ENDLESS)


def test_a_tasks_endless_file_is_told() -> None:
    with pytest.raises(TaskError, match="/dev/zero: it can't be read: it is longer"):
        read_task_file(ENDLESS)
