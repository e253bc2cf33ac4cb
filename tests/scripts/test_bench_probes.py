"""bench_probes: what it compares on cpu, and that its loop for cuda compiles."""

import json
from pathlib import Path

import pytest

from evaluators.cuda.nvrtc import NvrtcChild
from evaluators.device_info import BackendMissing
from evaluators.gpu.resources import read_resources
from scripts.bench_probes import __main__ as bench
from scripts.bench_probes.bare import CUDA_SOURCE, bare_of


@pytest.mark.soak
def test_every_comparison_of_cpu_is_told(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    code = bench.main(["--backend", "cpu", "--rounds", "1", "--out", str(out)])
    said = json.loads(out.read_text())
    assert code == (0 if said["holds"] else 1)
    names = [check["name"].split(" beside")[0] for check in said["checks"]]
    assert names == ["copy bandwidth", "a block that writes one number", "exchange of 256 threads"]
    assert all(check["probe"] > 0 and check["known"] > 0 for check in said["checks"])
    assert [one["failed"] for one in said["set"]["probes"].values() if one["failed"]] == []


def test_the_loop_for_cuda_compiles() -> None:
    try:
        with NvrtcChild() as child:
            code = child.compile(CUDA_SOURCE, arch="sm_90").code
    except BackendMissing as missing:
        pytest.skip(str(missing))
    assert {kernel.symbol for kernel in read_resources(code)} == {"empty", "barriers"}


def test_no_loop_is_written_for_hip() -> None:
    assert bare_of("hip", "gfx942") is None
