"""The doctor: what it finds, what it advises, and what makes it say that nothing can run."""

import io
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli import doctor
from engine.cli.doctor import examine
from engine.cli.examined import Finding, print_findings
from evaluators.profile.run import find_tool
from tests.evaluators.hip import test_hip_double
from tests.evaluators.profile.test_profile import put_tool

BIN = Path(sys.executable).parent


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.what: finding for finding in findings}


def test_this_machine_can_run_campaigns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    findings = by_name(examine(tmp_path / "runs"))
    needed = ("Python", "cpu backend", "ray", "mlflow", "Ray session", "disk")
    assert [what for what in needed if findings[what].state != "ok"] == []
    assert findings["AMD GPU"].state in ("ok", "absent")
    assert findings["NVIDIA GPU"].state in ("ok", "absent")
    assert not (tmp_path / "runs").exists()  # it only looks


def test_no_compiler_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evaluators.cpu.toolchain import toolchain

    monkeypatch.setenv("KERNEL_SCIENTIST_CXX", "no-such-compiler")
    toolchain.cache_clear()
    try:
        finding = by_name(examine(tmp_path))["cpu backend"]
    finally:
        toolchain.cache_clear()
    assert finding.state == "broken"
    assert "no-such-compiler" in finding.todo


def test_a_ray_session_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
        assert by_name(examine(tmp_path))["Ray session"].state == "ok"
        monkeypatch.setenv("RAY_AUTH_MODE", "token")
        monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
        monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
        assert "RAY_AUTH_TOKEN" in by_name(examine(tmp_path))["Ray session"].todo
    gone = by_name(examine(tmp_path))["Ray session"]
    assert gone.state == "broken"
    assert address in gone.found
    assert "RAY_ADDRESS" in gone.todo


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/me/my\\040disk xfs rw 0 0
"""


@pytest.mark.parametrize(
    ("place", "kind"),
    [("/var/runs", "ext4"), ("/home/me/runs", "nfs4"), ("/home/me/my disk/runs", "xfs")],
)
def test_the_file_system_of_a_folder(place: str, kind: str) -> None:
    assert doctor._file_system(Path(place), MOUNTS) == kind


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    findings = by_name(examine(Path("/proc/runs")))
    assert findings["disk"].state == "broken"
    assert "runs_dir" in findings["disk"].todo


def test_the_exit_code_and_the_last_line_follow_from_what_is_broken() -> None:
    fine = Finding(what="ray", state="ok", found="2.60")
    lacking = Finding(what="AMD GPU", state="absent", found="none")
    broken = Finding(what="disk", state="broken", found="full", todo="free some space")
    text = io.StringIO()
    assert print_findings([fine, lacking], text, as_json=False) == 0
    assert "quickstart.yaml" in text.getvalue().splitlines()[-1]
    text = io.StringIO()
    assert print_findings([fine, broken], text, as_json=False) == 1
    assert "free some space" in text.getvalue()
    assert text.getvalue().splitlines()[-1].endswith("mended: disk.")


def test_it_prints_json_and_imports_neither_ray_nor_mlflow() -> None:
    script = (
        "import sys, engine.cli.main\n"
        "code = engine.cli.main.main(['doctor', '--json'])\n"
        "assert not {'ray', 'mlflow'} & set(sys.modules)\n"
        "sys.exit(code)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert result.stderr == ""
    values = json.loads(result.stdout)
    assert values["ready"] == (result.returncode == 0)
    assert {finding["what"] for finding in values["findings"]} >= {"Python", "ray", "disk"}


def test_an_amdsmi_that_keeps_ray_from_being_imported_is_told(tmp_path: Path) -> None:
    """As the package from PyPI does where ROCm's library is missing."""
    (tmp_path / "amdsmi.py").write_text("raise KeyError('libamd_smi.so')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}

    def said(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "engine.cli.main", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    result = said("doctor", "--json")
    assert result.returncode == 1, result.stderr
    (found,) = (f for f in json.loads(result.stdout)["findings"] if f["what"] == "amdsmi")
    assert found["state"] == "broken"
    assert "KeyError: 'libamd_smi.so'" in found["found"]
    assert "remove amdsmi" in found["todo"]
    for command in (["run", "configs/quickstart.yaml"], ["resume", str(tmp_path)]):
        refused = said(*command)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert re.fullmatch(r"kernel-scientist: Ray .*KeyError.*remove amdsmi.*\n", refused.stderr)


LOOK_AT_AMD = """
from dataclasses import replace
from engine.cli import doctor
maker = replace(doctor.MAKERS[0], device_files=("/dev/null",))
found = doctor._gpu(maker)
print(found.state, found.found, found.todo, sep="|")
"""


def test_a_gpu_without_its_profiler_says_what_that_costs(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if find_tool("rocprofv3"):
        pytest.skip("rocprofv3 is installed here")
    state, found, todo = test_hip_double.python(LOOK_AT_AMD).strip().split("|")
    assert (state, todo) == ("ok", "with rocprofv3 campaigns would profile their new bests")
    assert "gfx942" in found
    put_tool(tmp_path / "rocprofv3", "", double)
    assert test_hip_double.python(LOOK_AT_AMD).strip().split("|")[2] == ""
