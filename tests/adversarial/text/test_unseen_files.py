"""Compile children see no file but what they need, nor other processes; logs quote no file."""

import os
import sys
from pathlib import Path

import pytest

from engine.cli.doctor import examine
from evaluators.cpu.compiler import CpuCompiler
from evaluators.cuda.nvrtc import NvrtcChild
from evaluators.gpu.compile_child import CompileChild
from evaluators.hip.clang import ClangChild
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.sandbox import landlock
from evaluators.sandbox.log_lines import shown
from evaluators.sandbox.run import run_confined
from tests.adversarial.text.planted import VARIABLE, WORD, Planted

LANDLOCK = pytest.mark.skipif(landlock.version() == 0, reason="this kernel has no Landlock")
SOURCES = (
    '#include "@FILE@"\n',
    'asm(".incbin \\"@FILE@\\"");\n',
    '#if __has_include("@FILE@")\n#include "@FILE@"\n#endif\n',
)
PROCESS = '#include "/proc/@PID@/environ"\n'


@pytest.fixture(params=["cuda", "hip", "clang"])
def child(request: pytest.FixtureRequest) -> CompileChild:
    """The compile child alone: what it is given here no check of ours has seen."""
    if request.param == "cuda":
        request.addfinalizer((made := NvrtcChild()).close)
        return made
    found: HiprtcChild | ClangChild = request.getfixturevalue(
        {"hip": "gfx942", "clang": "clang_amdgcn"}[request.param]
    )
    return found


@LANDLOCK
@pytest.mark.parametrize("source", [*SOURCES, PROCESS])
def test_compile_children_can_not_read_it(
    child: CompileChild, planted: Planted, source: str
) -> None:
    arch = "sm_90" if isinstance(child, NvrtcChild) else "gfx942"
    source = planted.put_into(source).replace("@PID@", str(os.getpid()))
    child.require(arch, "", 60.0)  # starts it
    request = {
        "source": source + "__global__ void k() {}",
        "name": "kernel.hip",
        "names": ["k"],
        "options": child.flags(arch, ()),
    }
    reply = child.ask(request, 60.0)
    assert WORD not in reply["log"]
    assert VARIABLE not in reply["log"]
    assert WORD.encode() not in reply.get("code", b"")


READS = """
import os, sys
for path in sys.argv[1:]:
    try:
        print(open(path, "rb").read()[:4000])
    except OSError as error:
        print(error.errno)
"""


@LANDLOCK
def test_confined_children_see_no_file_of_the_host(tmp_path: Path, planted: Planted) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "own").write_text("mine")
    others = [planted.file, Path.home() / ".ssh", Path(f"/proc/{os.getpid()}/environ")]
    others += [Path("/proc/self/environ"), Path("/etc/passwd"), Path(__file__)]
    done = run_confined(
        [sys.executable, "-I", "-S", "-c", READS, "own", *map(str, others)],
        cwd=here,
        env={},
        deadline_s=60,
        memory_bytes=1 << 30,
    )
    first, *rest = done.stdout.decode().splitlines()
    assert first == "b'mine'", done.stderr
    assert set(rest) <= {"13", "2"}
    assert len(rest) == len(others)


@LANDLOCK
def test_confined_children_write_nowhere_else(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    code = "open('own', 'w'); open('../other', 'w')"
    done = run_confined(
        [sys.executable, "-I", "-S", "-c", code],
        cwd=here,
        env={},
        deadline_s=60,
        memory_bytes=1 << 30,
    )
    assert b"PermissionError" in done.stderr
    assert [path.name for path in tmp_path.rglob("o*")] == ["own"]


def test_doctor_says_what_compilers_can_read() -> None:
    (found,) = (one for one in examine() if one.what == "compile children")
    assert ("Landlock" in found.found) == (landlock.version() > 0)
    assert landlock.version() > 0 or "can read" in found.todo


def test_a_machine_without_landlock_still_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert landlock.restrict([str(tmp_path)], [str(tmp_path)]) is False
    assert (tmp_path / "x").write_text("still allowed") > 0


QUOTING = {
    "clang": "In file included from kernel.hip:2:\n/etc/host:1:1: error: unknown type name "
    f"'{WORD}'\n    1 | {WORD}:x:0:0\n      | ^\n1 error generated.\n",
    "g++": f"/home/u/.netrc:1:1: error: '{WORD}' does not name a type; did you mean 'a'?\n",
    "nvrtc": f'/etc/host(1): error: identifier "{WORD}" is undefined\n  {WORD}:x:0:0\n  ^\n',
    "assembler": f"<inline asm>:1:2: error: unknown directive {WORD}\n",
    "as": f"/tmp/ccX.s: Assembler messages:\n/tmp/ccX.s:3: Error: no such instruction: '{WORD}'\n",
    "ptxas": f"ptxas application ptx input, line 9; fatal : Parsing error near '{WORD}'\n",
    "ptxas_plain": f"ptxas fatal : {WORD}\n",
    "linker": f"ld.lld: error: /etc/host:1: unknown directive: {WORD}\n>>> {WORD}\n",
    "driver": f"{WORD}\n",
    "named_alike": f"/x/kernel.hip:1:1: error: {WORD}\nnot kernel.hip:1:1: error: {WORD}\n",
}


@pytest.mark.parametrize("name", QUOTING)
def test_logs_quote_no_file(name: str) -> None:
    mine = "kernel.hip:3:1: error: 'sum' was not declared in this scope\n    3 | sum;\n"
    log = shown(QUOTING[name] + mine + QUOTING[name])
    assert WORD not in log
    assert log == mine.rstrip("\n")


SHOWN = (
    'kernel.hip(7): error: identifier "y" is undefined\n      y = 1;\n      ^',
    "name expression k<3>:1:2: error: no template named 'k'",
    "launches:3:1: error: unable to deduce 'auto'",
    "hip/hip_runtime.h:3:1: note: expanded from macro 'F'\n    3 | #define F\n      |   ^",
    "cpu/ks/entry.h:3:1: error: static assertion failed",
    "ptxas error   : Entry function 'k' uses too much shared data (0x20000 bytes, 0xc000 max)",
    "<unknown>:0: error: local memory (131072) exceeds limit (65536) in function 'k'",
    "kernel.hip:3:8: error: local memory (131072) exceeds limit (65536) in 'k'",
    "ld.lld: error: undefined hidden symbol: there()",
    "lld: error: undefined symbol: there",
)


@pytest.mark.parametrize("lines", SHOWN)
def test_logs_show_what_points_at_the_kernel_or_our_headers(lines: str) -> None:
    assert shown(lines + "\n1 error generated.\n") == lines


def test_a_file_that_is_not_utf_8_is_told_on_every_way(tmp_path: Path) -> None:
    """The cpu's compiler and its log, when a kernel file has text that no encoding has."""
    from tests.adversarial.text.planted import ABOUT, outcome

    found = outcome(CpuCompiler(), ABOUT + "// \udc80\n__global__ void k() {}\n")
    assert found.rejected is not None
    assert "UTF-8" in found.said
