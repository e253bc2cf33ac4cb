"""The Containerfile agrees with pyproject.toml, the locks and the scripts that it names."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "Containerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKED = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements.lock").read_text(), re.M))


def found(pattern: str) -> str:
    match = re.search(pattern, TEXT, re.MULTILINE)
    assert match, f"the Containerfile has no {pattern}"
    return match[1]


def test_rocm_is_the_one_that_the_locked_binding_is_made_for() -> None:
    rocm = found(r"^ARG BASE=rocm/[\w.-]+:(\d+\.\d+)")
    assert LOCKED["hip-python"].startswith(f"{rocm}.")
    assert f"hip-python=={LOCKED['hip-python']};" in " ".join(PROJECT["dependencies"])


def test_python_is_one_that_the_package_allows() -> None:
    python = found(r"PYTHON=python(\d+\.\d+)")
    assert python in SpecifierSet(PROJECT["requires-python"])
    installed = found(r"install --yes --no-install-recommends (.*) \\$").split()
    assert {f"python{python}", f"python{python}-venv"} <= set(installed)


def test_the_locks_pin_what_the_package_asks_for() -> None:
    for requirement in map(Requirement, PROJECT["dependencies"]):
        assert LOCKED[requirement.name] in requirement.specifier, requirement


def test_amdsmi_is_rocms_own_and_is_tried() -> None:
    """PyPI's brings no library, and one that can't be imported keeps Ray from being imported."""
    installed = TEXT.index("/opt/rocm/share/amd_smi")
    assert TEXT.index("setup_venv.sh core") < installed < TEXT.index('-c "import amdsmi"')
    assert not re.search(r"amdsmi==|\[amd\]", TEXT)
    assert "amdsmi" not in LOCKED


def test_every_file_it_copies_is_tracked() -> None:
    copied = re.findall(r"^COPY --chown=\S+ (.*) \S+$", TEXT, re.MULTILINE)
    names = {name for line in copied for name in line.split() if name != "."}
    tracked = set(
        subprocess.run(
            ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split()
    )
    assert names <= tracked
    assert "scripts/setup_venv.sh" in names


def test_set_up_needs_nothing_that_is_not_copied_before_it() -> None:
    script = (ROOT / "scripts" / "setup_venv.sh").read_text()
    before = TEXT.split("RUN scripts/setup_venv.sh core")[0]
    for name in re.findall(r"requirements[\w-]*\.lock", script):
        assert name in before or name == "requirements-dev.lock"
    for name in (PROJECT["readme"], *PROJECT["license-files"]):
        assert name in before


def test_it_does_not_run_as_root_and_names_no_registry() -> None:
    users = re.findall(r"^USER (\S+)", TEXT, re.MULTILINE)
    assert users == [re.search(r"useradd .*--groups video,render (\w+)", TEXT)[1]]  # type: ignore[index]
    assert TEXT.index("\nUSER ") < TEXT.index("\nENTRYPOINT ")
    assert not re.search(r"https?://|[\w-]+\.(?:io|com|org)\b", TEXT)


@pytest.mark.parametrize("name", [".venv", ".git", ".rocm*", "runs"])
def test_what_is_big_or_private_stays_out(name: str) -> None:
    assert name in (ROOT / ".dockerignore").read_text().split()
