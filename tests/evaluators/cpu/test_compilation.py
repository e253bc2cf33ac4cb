"""The compiler's runs on one file: known again when they are alike, and only then."""

from collections.abc import Iterator
from typing import Any

import pytest

from evaluators.cpu import compilation
from evaluators.cpu.compilation import Made, compile_file
from evaluators.cpu.toolchain import toolchain
from evaluators.evaluation import Rejected, Status
from evaluators.sandbox.run import run_confined

TEXT = 'extern "C" int answer() { return NUMBER; }\n'


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The commands that were run in truth, from an empty memory on."""
    seen: list[Any] = []

    def counted(command: Any, **how: Any) -> Any:
        seen.append(command)
        return run_confined(command, **how)

    monkeypatch.setattr(compilation, "run_confined", counted)
    monkeypatch.setattr(compilation, "_known", type(compilation._known)())
    yield seen


def made(text: str, number: int = 42) -> Made:
    command = [*toolchain().command, f"-DNUMBER={number}", "-shared", "-fPIC", "-o", "it.so"]
    return compile_file(
        toolchain(),
        [*command, "it.cpp"],
        "it.cpp",
        text,
        outputs=["it.so", "nowhere"],
        kernels=["k"],
        deadline_s=60,
    )


def test_what_was_compiled_is_known_again(runs: list[Any]) -> None:
    first = made(TEXT)
    assert first.files["it.so"][:4] == b"\x7fELF" and "nowhere" not in first.files
    assert made(TEXT) == first
    assert len(runs) == 1


def test_another_text_or_command_is_compiled(runs: list[Any]) -> None:
    first = made(TEXT)
    assert made(TEXT, 43) != first
    assert made(TEXT.replace("answer", "question")) != first
    assert len(runs) == 3


def test_what_fails_is_tried_again(runs: list[Any]) -> None:
    for _ in range(2):
        with pytest.raises(Rejected) as caught:
            made(TEXT.replace("return", "retrun"))
        assert caught.value.status is Status.COMPILE_ERROR
    assert len(runs) == 2


def test_no_more_is_kept_than_fits(runs: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "KNOWN", 2)
    for number in (1, 2, 1, 3, 1, 2):  # when 3 comes, 2 was asked for longer ago than 1
        made(TEXT, number)
    assert len(runs) == 4
    large = "char much[2 << 20] = {1};\n" + TEXT
    made(large)
    made(large)
    assert len(runs) == 6 and len(compilation._known) == 2
