"""What the doctor says a backend lacks: what, what it is for, and the command that installs it."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.backend_needs import NEEDS, Lack, find_lacks, lack_lines
from engine.cli.examined import Finding, print_findings
from engine.cli.main import main
from evaluators.device_info import BACKENDS
from evaluators.profile.profiler import TOOLS
from tests.evaluators.profile.test_profile import put_tool

ROCPROF = Lack(
    backend="hip",
    what="rocprofv3",
    purpose="profiles new bests",
    command="sudo apt install rocprofiler-sdk",
)


def lacking(backend: str) -> set[str]:
    return {one.what for one in find_lacks() if one.backend == backend}


def test_every_backend_has_its_needs_and_every_need_its_command() -> None:
    assert {need.backend for need in NEEDS} == set(BACKENDS)
    for need in NEEDS:
        assert need.what and need.purpose and need.command
    for backend, tool in TOOLS.items():
        assert tool in {need.what for need in NEEDS if need.backend == backend}


def test_what_is_not_here_is_named_and_what_is_here_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("KERNEL_SCIENTIST_ROCM", raising=False)
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    assert "hiprtc" in lacking("hip")
    (tmp_path / "lib").mkdir()
    for name in ("libhiprtc.so", "libamdhip64.so.7"):
        (tmp_path / "lib" / name).write_text("")
    put_tool(tmp_path / "rocprofv3", "", monkeypatch)
    assert not {"hiprtc", "libamdhip64", "rocprofv3"} & lacking("hip")
    assert ("AMD's driver" in lacking("hip")) == (not Path("/dev/kfd").exists())


def test_a_package_that_is_not_installed_is_a_lack() -> None:
    (bindings,) = [need for need in NEEDS if need.what == "hip-python"]
    assert find_lacks([replace(bindings, is_here=lambda: False)])[0].command == "make setup"


def test_a_person_reads_a_line_each_before_the_verdict() -> None:
    assert list(lack_lines([ROCPROF])) == [
        "",
        "What the hip backend lacks here:",
        "  rocprofv3: profiles new bests; install it with: sudo apt install rocprofiler-sdk",
    ]
    text = io.StringIO()
    fine = Finding(what="ray", state="ok", found="2.60")
    assert print_findings([fine], text, as_json=False, lacks=[ROCPROF]) == 0
    lines = text.getvalue().splitlines()
    assert "install it with" in lines[-3] and "Campaigns can run here" in lines[-1]


def test_the_command_tells_a_script_too(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--json"])
    lacks = json.loads(capsys.readouterr().out)["lacks"]
    assert [one["what"] for one in lacks] == [one.what for one in find_lacks()]
    assert all(one.keys() == {"backend", "what", "purpose", "command"} for one in lacks)
