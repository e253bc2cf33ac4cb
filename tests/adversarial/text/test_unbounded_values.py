"""Numbers of any length and YAML's own types, wherever YAML is read: one sentence, no traceback."""

from pathlib import Path

import pytest

from engine.cli.usage import UsageError, budget_change
from engine.config_errors import ConfigError
from engine.config_file import load_config
from evaluators.evaluation import Rejected, Status
from evaluators.expression import ExpressionError, parse_expression
from evaluators.kernel.source import kernel_id, parse_kernel
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import write_task

LONG = {
    "hexadecimal": "0x" + "f" * 3600,
    "binary": "0b" + "1" * 16000,
    "octal": "0" + "7" * 5000,
    "sexagesimal": "1" + ":59" * 3000,
    "decimal": "9" * 5000,
    "negative": "-0x" + "f" * 3600,
    "65_bits": "0x1" + "0" * 16,
}
TAGGED = {
    "bool": '!!bool "abc"',
    "int": '!!int ""',
    "float": '!!float "."',
    "timestamp": '!!timestamp "x"',
    "bytes": "!!binary aGVsbG8=",
    "null": '!!null "x"',
    "text": "!!str 1",
    "set": "!!set {A: null}",
    "pairs": "!!omap [A: 1]",
    "unknown": "!thing 3",
    "python": "!!python/object/apply:os.getcwd []",
    "nameless": "! 3",
}
ODD = LONG | TAGGED
FRONT = """
launches:
- kernel: {kernel}
  grid: {grid}
  block: {block}
  args: [{arg}]
  when: {when}
  lds_bytes: {lds_bytes}
- memset: {{buffer: s, byte: {byte}}}
- kernel: k
  grid: 1
  block: 1
  args: [{{value: {value}, type: int32}}]
  repeat: {{i: {repeat}}}
  cooperative: {cooperative}
params: {{A: {param}}}
space: {{A: [{space}]}}
scratch: {{s: {scratch}}}
constraints: [{constraint}]
variants: [{{when: 1, params: {{A: {variant}}}}}]
options: [{option}]
specialize: [{specialize}]
"""
USUAL = {
    "kernel": "k",
    "arg": "s",
    "byte": "0",
    "cooperative": "false",
    "option": "-O3",
    "specialize": "N",
}
PLACES = (
    *("grid", "block", "when", "lds_bytes", "value", "repeat", "param", "space", "scratch"),
    *("constraint", "variant", *USUAL),
)


def front_matter(place: str, value: str) -> str:
    return FRONT.format(**{**dict.fromkeys(PLACES, "1"), **USUAL, place: value})


def test_the_front_matter_is_right_but_for_one_value() -> None:
    parse_kernel(f"/*---{front_matter('grid', '1')}---*/\n__global__ void k() {{}}\n")


@pytest.mark.parametrize("name", ODD)
def test_front_matter_with_it_is_invalid(name: str) -> None:
    for place in PLACES:
        text = f"/*---{front_matter(place, ODD[name])}---*/\n__global__ void k() {{}}\n"
        with pytest.raises(Rejected) as caught:
            parse_kernel(text)
        assert caught.value.status is Status.INVALID
        said = caught.value.reason
        assert "line" in said, place
        assert said.isprintable(), place
        assert len(said) < 500, place
        assert len(kernel_id(text)) == 16


@pytest.mark.parametrize("name", ODD)
def test_tasks_and_configurations_with_it_are_refused(tmp_path: Path, name: str) -> None:
    value = ODD[name]
    folder = write_task(tmp_path / "small")
    task = (folder / "task.yaml").read_text()
    (folder / "task.yaml").write_text(task.replace("N: 7000", f"N: {value}"))
    with pytest.raises(TaskError, match="line") as told:
        load_task(folder)
    file = tmp_path / "campaign.yaml"
    file.write_text(f"task: sgemm\nseed: {value}\n")
    with pytest.raises(ConfigError, match="line 2") as also_told:
        load_config(file)
    file.write_text("task: sgemm\n")
    with pytest.raises(ConfigError) as overridden:
        load_config(file, [f"islands.count={value}"])
    with pytest.raises(UsageError) as changed:
        budget_change(f"evaluations={value}")
    for error in (told, also_told, overridden, changed):
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 600 + len(str(tmp_path))


@pytest.mark.parametrize("value", [10**5000, -(10**5000), 1 << 64], ids=["long", "negative", "65"])
def test_expressions_of_such_numbers_are_refused(value: int) -> None:
    with pytest.raises(ExpressionError, match="64 bits"):
        parse_expression(value)


def test_a_file_of_a_task_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    for name in ("task.yaml", "reference.py", "seeds/naive.hip"):
        folder = write_task(tmp_path / name.replace("/", "_"))
        (folder / name).write_bytes(b"# caf\xe9\n" + (folder / name).read_bytes())
        with pytest.raises(TaskError, match="UTF-8"):
            load_task(folder)
