"""Versions that fit, and each planted mismatch in one sentence that says what to install."""

from pathlib import Path

import pytest

from evaluators.acceptance.versions import Versions, found_versions, judged, version_findings

AMD = {"amdgpu_driver": "6.14.14", "hip_runtime": "7.2.53211", "hip_python": "7.2.2.562.43"}
AMD |= {"hiprtc": "7.2.4"}
NVIDIA = {"nvidia_driver": "580.65.06", "driver_cuda": "13.0", "cuda_bindings": "13.5.0"}
NVIDIA |= {"nvrtc": "13.5.37", "cuda_headers": "13.5.37"}
OWN = ("ray[default]<2.61,>=2.60", "mlflow<3.18,>=3.17.2", "nvidia-ml-py>=13; extra == 'cuda'")


@pytest.mark.parametrize("here", [{}, AMD, NVIDIA, AMD | NVIDIA], ids=["none", "AMD", "NV", "both"])
def test_versions_that_fit(here: dict[str, str]) -> None:
    (one,) = judged(Versions(**here))  # type: ignore[arg-type]
    assert (one.level, one.sentence) == ("ok", "all versions fit each other")


@pytest.mark.parametrize(
    ("changed", "level", "words"),
    [
        (
            AMD | {"hip_runtime": "5.7.13000", "hiprtc": "5.7.1"},
            "error",
            ["5.7.13000", "ROCm 6 is the oldest", "install ROCm 7.2"],
        ),
        (AMD | {"hip_runtime": ""}, "error", ["6.14.14", "no HIP runtime", "install ROCm 7.2"]),
        (AMD | {"hip_python": ""}, "error", ["hip-python is not installed", "make setup"]),
        (
            AMD | {"hip_runtime": "6.4.43484", "hiprtc": "6.4.3"},
            "warning",
            ["hip-python 7.2.2.562.43 is made for ROCm 7", "6.4.43484", "hip-python of 6.*"],
        ),
        (AMD | {"hiprtc": "6.4.3"}, "warning", ["hiprtc 6.4.3", "HIP 7.2.53211", "ROCM_PATH"]),
        (
            NVIDIA | {"driver_cuda": "12.8", "nvidia_driver": "570.86"},
            "error",
            ["NVRTC 13.5.37", "570.86", "CUDA 12.8", "driver 580 or newer", "12.*"],
        ),
        (
            NVIDIA | {"nvrtc": "12.9.86", "cuda_headers": "12.9.79"},
            "error",
            ["cuda-bindings 13.5.0 can't load NVRTC 12.9.86", "nvidia-cuda-nvrtc 13.*"],
        ),
        (NVIDIA | {"cuda_headers": "12.9.79"}, "error", ["12.9.79", "nvidia-cuda-runtime 13.*"]),
        (NVIDIA | {"nvrtc": ""}, "error", ["nvidia-cuda-nvrtc is not installed", "[cuda]"]),
    ],
)
def test_a_mismatch_is_one_sentence(changed: dict[str, str], level: str, words: list[str]) -> None:
    (one,) = judged(Versions(**changed))  # type: ignore[arg-type]
    assert one.level == level
    assert "\n" not in one.sentence
    for word in words:
        assert word in one.sentence


@pytest.mark.parametrize(
    ("version", "said"),
    [("2.60.0", ""), ("2.61.0", "ray 2.61.0 is not <2.61,>=2.60"), ("", ""), ("2.9", "ray 2.9")],
)
def test_packages_within_our_own_bounds(version: str, said: str) -> None:
    (one,) = judged(Versions(packages=(("ray", version),), requirements=OWN))
    assert said in one.sentence
    assert (one.level == "warning") == bool(said)


@pytest.mark.parametrize(
    ("version", "requirement", "holds"),
    [
        ("7.2.2.562.43", "ray==7.2.2.562.43; sys_platform == 'linux'", True),
        ("7.2.2", "ray==7.2.2.562.43", False),
        ("3.17.10", "ray>=3.17.2,<3.18", True),
        ("3.17", "ray>=3.17.2,<3.18", False),
        ("2.1", "ray (>=2.1,<3)", True),
        ("2.0", "ray>2.0", False),
        ("2.0.1", "ray<=2.0", False),
        ("1.0", "ray", True),
        ("2.61.0", "ray~=2.60.0", False),
        ("2.60.1", "ray!=2.60.1", False),
        ("2.60.1", "ray==2.60.*", True),
        ("2.60.0rc1", "ray>=2.60", False),
        ("2.60.0+cu13", "ray==2.60.0", True),
        ("3.0", "Ray<3", False),
    ],
)
def test_bounds_as_pip_reads_them(version: str, requirement: str, holds: bool) -> None:
    (one,) = judged(Versions(packages=(("ray", version),), requirements=(requirement,)))
    assert (one.level == "ok") is holds, one.sentence


def test_this_environment_is_the_tested_one() -> None:
    found = found_versions()
    assert found.shown()["ray"].startswith("2.60")
    bad = [one.sentence for one in version_findings() if "run make setup" in one.sentence]
    assert not bad or Path("/dev/kfd").exists(), bad
