"""Texts put together at random: sources, front matters and replies; each has a verdict.

A bounded number in continuous integration, many in soak.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.config_errors import ConfigError
from engine.config_file import load_config
from engine.store.events import Drafted, from_row, to_row
from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.toolchain import toolchain
from evaluators.device_info import target_of
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.normalise import LITERAL, count_lines, normalised
from evaluators.kernel.source import kernel_id, parse_kernel
from evaluators.kernel.source_check import check_source
from evaluators.kernel.tokens import tokens
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task_file import SHIPPED, load_task
from operators.individual import Candidate
from operators.llm.fences import edits, fences
from operators.llm.kernel_reply import read_kernel
from operators.llm.novelty import shingles
from operators.llm.question import Malformed, Reply
from operators.llm.replies import DesignerReply, SelectorReply
from operators.llm.structured import read_structured
from tests.adversarial.text.planted import outcome

FEW, MANY = 120, 6000
SEED = load_task("sgemm").naive

SOURCE_PIECES = (
    *(
        "\\\n",
        "\\ \n",
        "\\\t\r\n",
        "\n",
        "\r",
        "\r\n",
        "\v",
        "\f",
        "//",
        "/*",
        "*/",
        " ",
        "\t",
        "\\",
    ),
    *(
        '"',
        "'",
        '"a"',
        "'b'",
        'R"(',
        'u8"x"',
        "1'000",
        "0x1p-3",
        "??=",
        "??/\n",
        "%:",
        "<:",
        "<::",
        ":>",
    ),
    *(
        "#",
        "##",
        "#define A(x) x##y\n",
        "#define B a\n",
        "#if ",
        "#endif\n",
        "#error it's\n",
        "#undef B\n",
    ),
    *(
        "#include <hip/hip_runtime.h>\n",
        '#include "/etc/passwd"\n',
        "#pragma unroll\n",
        "defined(B)",
    ),
    *(
        "asm",
        "__asm__",
        "_Pragma",
        "__has_include",
        "(",
        ")",
        "[",
        "[[",
        "]]",
        "{",
        "}",
        "<",
        ">",
        ";",
    ),
    *(
        "as",
        "m",
        "a",
        "B",
        "A(as, m)",
        "\\u0061",
        "$",
        "é",
        "\ud800",
        "\x00",
        "\x1b",
        "\ufeff",
        "\u2028",
    ),
    *(
        "__attribute__((",
        "unused",
        "constructor",
        "))",
        "template <",
        "extern __shared__ int s[];",
        "s[0]",
    ),
    *(
        "__global__ void k() {",
        "__syncthreads();",
        "int",
        "x",
        "=",
        "1",
        "+",
        ",",
        "return",
        "for (;;)",
    ),
)
YAML_PIECES = (
    *(
        "launches",
        "kernel",
        "grid",
        "block",
        "args",
        "params",
        "space",
        "options",
        "variants",
        "when",
    ),
    *(
        "constraints",
        "scratch",
        "specialize",
        "repeat",
        "prepare",
        "memset",
        "buffer",
        "byte",
        "value",
    ),
    *(
        ": ",
        "\n",
        "\n  ",
        "\n- ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "- ",
        "? ",
        "&a ",
        "*a",
        "!!binary ",
        "|-\n ",
    ),
    *(
        "'",
        '"',
        "\\",
        "#",
        "%",
        "@",
        "`",
        "<<",
        "=",
        "~",
        "null",
        "true",
        "1",
        "-1",
        "1e400",
        ".nan",
        "0x",
    ),
    *(
        "9" * 400,
        "9" * 5000,
        "0x" + "f" * 4000,
        "1" + ":59" * 3000,
        "(" * 60,
        "BM",
        "k",
        "ceil_div(N, 2)",
        "1 << 63",
        "a if b else c",
        "lambda: 0",
        "---*/",
    ),
    *("\r", "\x85", "\u2028", "\ud800", "\x07", "\ufeff", "---\n", "...\n", "\t", "-O3", "[[-O3]]"),
    *(f"!!{tag} " for tag in ("bool", "int", "float", "timestamp", "null", "str", "set", "omap")),
    *("! ", "!a ", "!<tag:yaml.org,2002:int> ", "2001-01-01", "1:30", "0x_", "0b1", "1.5:3"),
)
REPLY_PIECES = (
    *(
        "```",
        "~~~",
        "```hip\n",
        "```json\n",
        "\n",
        "<<<<<<< SEARCH\n",
        "=======\n",
        ">>>>>>> REPLACE\n",
    ),
    *(
        "/*---\n",
        "---*/\n",
        "launches:",
        "Report",
        "# report\n",
        "- - -\n",
        "{",
        "}",
        "[",
        "]",
        '"',
        ":",
        ",",
    ),
    *(
        '{"base_id": "a", "reference_id": "b", "rationale": "c"}',
        '"avenues"',
        '"experiments"',
        "NaN",
        "1e999",
    ),
    *(
        "I'm sorry",
        "\\ud800",
        "\ud800",
        "\x00",
        "9" * 5000,
        "[" * 2000,
        "int x;\n",
        SEED[:200],
        SEED,
    ),
)


def texts(pieces: tuple[str, ...], most: int = 25) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=most).map("".join)


def spoilt(text: str, pieces: tuple[str, ...]) -> st.SearchStrategy[str]:
    """text with a few places overwritten by pieces."""
    places = st.tuples(st.integers(0, len(text)), st.integers(0, 12), st.sampled_from(pieces))

    def put(changes: list[tuple[int, int, str]]) -> str:
        made = text
        for place, taken, piece in changes:
            made = made[:place] + piece + made[place + taken :]
        return made

    return st.lists(places, min_size=1, max_size=4).map(put)


def fuzzed(
    count: int, strategy: st.SearchStrategy[str]
) -> Callable[[Callable[[str], None]], Callable[[], Any]]:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]

    def made(test: Callable[[str], None]) -> Callable[[], Any]:
        limited = settings(max_examples=count, deadline=None, suppress_health_check=checks)
        return limited(given(strategy)(test))

    return made


SOURCES = texts(SOURCE_PIECES)
FRONT = texts(YAML_PIECES) | spoilt(SEED.split("---*/")[0][5:], YAML_PIECES)
TASK = (SHIPPED / "sgemm" / "task.yaml").read_text()
CONFIG = "task: sgemm\nbudgets: {evaluations: 9, wall_time_s: 3.5}\nislands: {count: 2}\nseed: 1\n"
TASKS = texts(YAML_PIECES) | spoilt(TASK, YAML_PIECES)
CONFIGS = texts(YAML_PIECES) | spoilt(CONFIG, YAML_PIECES)
REPLIES = texts(REPLY_PIECES)
KERNELS = spoilt(SEED, SOURCE_PIECES) | spoilt(SEED, YAML_PIECES)


def a_source_is_normalised_or_invalid(code: str) -> None:
    try:
        text = normalised(code)
    except Rejected as rejected:
        assert rejected.status is Status.INVALID
        assert rejected.line is not None
        assert 1 <= rejected.line <= count_lines(code) + 1
        return
    bare = re.sub(LITERAL, "", text)
    assert bare.isascii()
    assert not re.search(r"//|/\*|\\|\?\?=|%:|<:(?!:)|[\r\v\f$]", bare)
    assert text.count("\n") == count_lines(code) + 1
    assert normalised(text).rstrip("\n") == text.rstrip("\n")
    lines = [token.line for token in tokens(text)]
    assert lines == sorted(lines)
    try:
        check_source(code, first_line=1)
    except Rejected as rejected:
        assert rejected.status in (Status.INVALID, Status.COMPILE_ERROR)
        assert rejected.reason.isprintable()


def a_front_matter_is_read_or_invalid(yaml_text: str) -> None:
    text = f"/*---{yaml_text}---*/\nint x;\n"
    assert len(kernel_id(text)) == 16
    try:
        kernel = parse_kernel(text)
    except Rejected as rejected:
        assert rejected.status is Status.INVALID
        is_one_sentence(rejected.reason)
        return
    task = load_task("sgemm")
    for workload in task.workloads("tests", "cpu"):
        try:
            kernel.plan(task, workload, target_of("cpu"))
        except Rejected as rejected:
            assert rejected.status is Status.INVALID


def written(text: str, name: str, folder: Path) -> Path:
    (folder / name).write_bytes(text.encode(errors="surrogatepass"))
    return folder / name


def a_task_is_read_or_refused(text: str) -> None:
    with TemporaryDirectory() as name:
        folder = written(text, "task.yaml", Path(name)).parent
        for part in ("reference.py", "seeds"):
            (folder / part).symlink_to(SHIPPED / "sgemm" / part)
        try:
            load_task(folder)
        except TaskError as error:
            is_one_sentence(str(error))


def a_configuration_is_read_or_refused(text: str) -> None:
    with TemporaryDirectory() as name:
        try:
            load_config(written(text, "campaign.yaml", Path(name)))
        except ConfigError as error:
            is_one_sentence(str(error))


def is_one_sentence(said: str) -> None:
    assert said.isprintable(), said
    assert len(said) < 1000, said
    said.encode()


def a_reply_is_read_or_malformed(text: str) -> None:
    reply = Reply(
        text=text, finish="stop", model="m", prompt_tokens=1, completion_tokens=1, latency_s=0.0
    )
    for fence in fences(text):
        assert fence.body in text[fence.start : fence.end]
    assert all(edit.start < edit.end for edit in edits(text)[0])
    for model in (SelectorReply, DesignerReply):
        try:
            read_structured(reply, model)
        except Malformed:
            continue
    try:
        said = read_kernel(reply, SEED)
    except Malformed:
        return
    a_draft_is_stored_and_read(said.source, said.report)


def a_draft_is_stored_and_read(source: str, report: str) -> None:
    candidate = Candidate.from_source(source)
    name = kernel_id(source)
    assert name == kernel_id(candidate.source)
    event = Drafted(
        island=0,
        cycle=1,
        slot=0,
        kernel_id=name,
        candidate=candidate,
        origin="experiment",
        report=report,
    )
    kind, *_, body = to_row(event)
    again = from_row(kind, body)
    assert isinstance(again, Drafted)
    assert again.candidate == candidate
    assert to_row(again)[-1] == body
    shingles(again.candidate.source)


def a_kernel_has_a_verdict(text: str) -> None:
    found = outcome(CpuCompiler(deadline_s=20.0), text)
    assert found.compiled or found.rejected is not None
    assert "Traceback" not in found.said
    found.said.encode()


def we_read_what_the_compiler_reads(code: str) -> None:
    """Our tokens of the normalised text are those of g++'s or clang's preprocessor."""
    try:
        text = normalised(code)
    except Rejected:
        return
    ours = [*tokens(text)]
    if any(token.kind == "directive" or token.text == "#" for token in ours):
        return
    done = subprocess.run(
        [*toolchain().command, "-E", "-P", "-x", "c++", "-w", "-std=gnu++17", "-undef", "-"],
        input=text.encode(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    if done.returncode != 0:
        return  # such as __has_include outside of #if
    theirs = "".join(done.stdout.decode().split())
    assert "".join("".join(token.text.split()) for token in ours) == theirs


test_sources = fuzzed(FEW * 3, SOURCES)(a_source_is_normalised_or_invalid)
test_front_matters = fuzzed(FEW * 2, FRONT)(a_front_matter_is_read_or_invalid)
test_tasks = fuzzed(FEW, TASKS)(a_task_is_read_or_refused)
test_configurations = fuzzed(FEW, CONFIGS)(a_configuration_is_read_or_refused)
test_replies = fuzzed(FEW, REPLIES)(a_reply_is_read_or_malformed)
test_compilers_read_the_same = fuzzed(FEW // 3, SOURCES)(we_read_what_the_compiler_reads)

soak = pytest.mark.soak
test_many_sources = soak(fuzzed(MANY, SOURCES)(a_source_is_normalised_or_invalid))
test_many_front_matters = soak(fuzzed(MANY, FRONT)(a_front_matter_is_read_or_invalid))
test_many_tasks = soak(fuzzed(MANY, TASKS)(a_task_is_read_or_refused))
test_many_configurations = soak(fuzzed(MANY, CONFIGS)(a_configuration_is_read_or_refused))
test_many_replies = soak(fuzzed(MANY, REPLIES)(a_reply_is_read_or_malformed))
test_many_texts_read_by_compilers = soak(fuzzed(MANY, SOURCES)(we_read_what_the_compiler_reads))
test_many_kernels = soak(fuzzed(MANY // 20, KERNELS)(a_kernel_has_a_verdict))
