"""The hip backend with hip-python 10.0, in an environment of its own beside the pinned 7.2."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from evaluators.hip.hiprtc import HiprtcChild

ROOT = Path(__file__).parents[3]
NEWER = "hip-python==10.0.0.0.1.2"
NEEDED = [
    *("ml-dtypes", "msgpack", "numpy", "pyelftools", "pytest", "pytest-timeout", "pyyaml"),
    *("tree-sitter", "tree-sitter-cpp"),
]


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_compile_child_and_runtime_double(gfx942: HiprtcChild, tmp_path: Path) -> None:
    lock = (ROOT / "requirements-dev.lock").read_text()
    pins = [re.search(rf"^{name}==[^\s;\\]+", lock, re.MULTILINE) for name in NEEDED]
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True, timeout=120)
    python = str(tmp_path / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", NEWER, *(pin[0] for pin in pins if pin)]
    subprocess.run(install, check=True, timeout=400)
    suites = [f"tests/evaluators/test_{name}.py" for name in ("gfx942", "hip_double")]
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *suites],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "skipped" not in done.stdout.splitlines()[-1]
