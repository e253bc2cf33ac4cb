"""What must hold for the repository as a whole: versions, lock files, no trace of a machine."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import mlflow
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
MOST_FILES = 24
MOST_MODULES = 69
"""That importing the evaluator may import of its package: no backend is among them."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-zig.lock")
# In pieces, so that this file does not hold what it looks for.
REGISTRY_HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pypi", "python", "org"),
        ("pythonhosted", "org"),
        ("anaconda", "org"),
        ("npmjs", "org"),
        ("crates", "io"),
        ("golang", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("repo", "radeon", "com"),
        ("developer", "download", "nvidia", "com"),
    )
)


def pins(lock: str) -> dict[str, set[str]]:
    """Canonical name -> the versions that a lock file pins (one for each marker)."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(
        r"^([\w.-]+)==([^\s;\\]+)", (ROOT / lock).read_text(), re.MULTILINE
    ):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def tracked_texts() -> dict[str, str]:
    """Path -> text of every file that git tracks and that is still there."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout here: what is tracked cannot be listed")
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = [name for name in listing.split("\0") if name and (ROOT / name).is_file()]
    assert "pyproject.toml" in names
    return {name: (ROOT / name).read_text(errors="replace") for name in names}


def test_mlflow_folder_holds_no_python_and_does_not_shadow_the_package() -> None:
    assert (ROOT / "mlflow").is_dir()
    assert not list((ROOT / "mlflow").rglob("*.py"))
    assert mlflow.__version__ == metadata.version("mlflow")


def test_installed_version_is_the_projects() -> None:
    assert metadata.version(PROJECT["project"]["name"]) == PROJECT["project"]["version"]


def test_one_oldest_python_everywhere() -> None:
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert PROJECT["tool"]["mypy"]["python_version"] == oldest
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + oldest.replace(".", "")
    assert f"--python-version {oldest} " in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_holds_no_address_and_hashes_everything(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert " @ " not in text
    assert "index" not in re.findall(r"^--([a-z]+)", text, re.MULTILINE)
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert entries
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize(
    ("group", "lock"),
    [
        ("core", "requirements.lock"),
        ("core", "requirements-dev.lock"),
        ("dev", "requirements-dev.lock"),
        ("cuda", "requirements-dev.lock"),
        ("tune", "requirements-dev.lock"),
        ("zig", "requirements-zig.lock"),
    ],
)
def test_every_dependency_is_pinned_within_its_range(group: str, lock: str) -> None:
    project = PROJECT["project"]
    wanted = project["dependencies"] if group == "core" else project["optional-dependencies"][group]
    pinned = pins(lock)
    for requirement in map(Requirement, wanted):
        versions = pinned.get(canonicalize_name(requirement.name), set())
        assert versions, f"{requirement.name} is not in {lock}: run make lock"
        assert all(map(requirement.specifier.contains, versions)), (requirement, versions)


def test_the_dev_lock_extends_the_core_lock() -> None:
    dev = pins("requirements-dev.lock")
    core = pins("requirements.lock")
    assert {name: dev.get(name) for name in core} == core


def test_every_data_file_of_the_packages_is_packaged() -> None:
    globs = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    suffixes = {glob.removeprefix("**/*") for glob in globs}
    packages = ("engine", "operators", "evaluators")
    files = [Path(name) for name in tracked_texts() if Path(name).parts[0] in packages]
    assert files
    assert [str(file) for file in files if file.suffix not in suffixes] == []


def test_no_tracked_file_names_a_registry_host() -> None:
    host = re.compile("|".join(map(re.escape, REGISTRY_HOSTS)), re.IGNORECASE)
    assert [name for name, text in tracked_texts().items() if host.search(text)] == []


def test_no_tracked_file_names_the_path_of_this_checkout() -> None:
    if len(ROOT.parts) < 3:
        pytest.skip(f"the checkout lies at {ROOT}, too short a path to look for")
    path = re.compile(rf"(?<![\w.-]){re.escape(str(ROOT))}(?![\w-])")
    assert [name for name, text in tracked_texts().items() if path.search(text)] == []


def test_no_script_needs_a_test() -> None:
    """Neither by an import nor by the name of a module to run."""
    scripts = {name: text for name, text in tracked_texts().items() if name.startswith("scripts/")}
    assert len(scripts) > 10
    assert [name for name, text in scripts.items() if re.search(r"\btests\.\w", text)] == []
    assert [name for name, text in scripts.items() if re.search(r"(from|import) tests", text)] == []


@pytest.mark.parametrize(
    "name",
    [
        "Makefile",
        ".ci/run",
        "scripts/setup_venv.sh",
        "mlflow/server.sh",
        "configs/cluster/slurm.sh",
    ],
)
def test_entry_points_parse_and_scripts_are_executable(name: str) -> None:
    path = ROOT / name
    if name == "Makefile":
        command = ["make", "--dry-run", "--always-make", "demo", "test", "check", "bench", "soak"]
    else:
        assert os.access(path, os.X_OK)
        command = ["bash", "-n", name]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def setup_venv(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the set-up script in an empty folder."""
    (folder / "scripts").mkdir()
    script = shutil.copy2(ROOT / "scripts" / "setup_venv.sh", folder / "scripts")
    return subprocess.run(
        [script, "core"],
        check=False,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_setup_says_in_one_sentence_that_no_python_is_new_enough(tmp_path: Path) -> None:
    result = setup_venv(tmp_path, PYTHON="python-that-is-not-there")
    assert result.returncode == 1
    assert "no Python 3.11 or newer" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / ".venv").exists()


def test_setup_names_the_package_that_brings_venv(tmp_path: Path) -> None:
    python = tmp_path / "python"  # a Python as Debian ships it: without ensurepip
    python.write_text(
        '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; *print*) echo 3.12;; *) exit 0;; esac\n'
    )
    python.chmod(0o755)
    result = setup_venv(tmp_path, PYTHON=str(python))
    assert result.returncode == 1
    assert "apt install python3.12-venv" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("folder", ["engine", "operators", "evaluators", "scripts"])
def test_no_folder_holds_more_files_than_a_person_takes_in(folder: str) -> None:
    rooms = {file.parent for file in (ROOT / folder).rglob("*.py")}
    crowded = [str(room) for room in rooms if len(list(room.glob("*.py"))) > MOST_FILES]
    assert not crowded


def test_the_evaluator_drags_in_few_modules() -> None:
    program = (
        "import sys, evaluators.measuring.evaluator; "
        "print(*(name for name in sys.modules if name.split('.')[0] == 'evaluators'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "evaluators.measuring.evaluator" in loaded
    assert len(loaded) <= MOST_MODULES, loaded
