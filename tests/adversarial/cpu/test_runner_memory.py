"""What steers the run child can't be written by a kernel: addresses, tables, pages of code."""

import io
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from evaluators.cpu.device import CpuDevice, compiler, open_device
from evaluators.cpu.runner import runner
from evaluators.evaluation import Rejected, Status
from tests.evaluators.launching import DEADLINE_S, MEMORY_BYTES, compile_one, launch, plan

POKE = """
__global__ void k(unsigned long *x) { *(volatile unsigned long *)x[0] = x[1]; }
"""


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return open_device(0)


def own_library() -> bytes:
    code = "__device__ float kept; __global__ void k(float *x) { x[0] = sinf(kept++); }"
    return next(iter(compile_one(compiler(), code, launch("k", ["x"])).binaries.values())).data


@pytest.mark.parametrize("what", ["runner", "library"])
def test_every_table_of_addresses_is_read_only(what: str) -> None:
    elf = ELFFile(io.BytesIO(runner().read_bytes() if what == "runner" else own_library()))
    tags = [
        tag.entry
        for section in elf.iter_sections()
        if isinstance(section, DynamicSection)
        for tag in section.iter_tags()
    ]
    flags = {tag.d_tag: tag.d_val for tag in tags}
    assert flags.get("DT_FLAGS", 0) & 8 or flags.get("DT_FLAGS_1", 0) & 1  # bind now
    [relro] = [s for s in elf.iter_segments() if s["p_type"] == "PT_GNU_RELRO"]
    end = relro["p_vaddr"] + relro["p_memsz"]
    for section in elf.iter_sections():
        if section.name.startswith(".got"):
            assert relro["p_vaddr"] <= section["sh_addr"] < end


@pytest.mark.parametrize("symbol", ["read", "fixed"])
def test_a_write_to_what_steers_the_runner_ends_it(device: CpuDevice, symbol: str) -> None:
    compiled = compile_one(compiler(), POKE, launch("k", ["x"]))
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        x = session.alloc(16)
        address = base(session._child.pid) + place(symbol)
        session.write(x, np.array([address, 1], np.uint64))
        with pytest.raises(Rejected) as caught:
            session.run(plan(launch("k", ["x"])), {"x": x}, deadline_s=DEADLINE_S)
    assert caught.value.status is Status.CRASHED
    assert "a write" in caught.value.reason


def base(pid: int) -> int:
    """Where the runner's executable lies in a process."""
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        if line.endswith(str(runner())):
            return int(line.split("-")[0], 16)
    raise AssertionError("the runner is not there")


def place(symbol: str) -> int:
    """A function's slot in the runner's table of addresses, or a variable, from its base."""
    elf = ELFFile(io.BytesIO(runner().read_bytes()))
    for section in elf.iter_sections():
        if isinstance(section, RelocationSection):
            names = elf.get_section(section["sh_link"])
            assert isinstance(names, SymbolTableSection)
            for relocation in section.iter_relocations():
                number = relocation["r_info_sym"]
                if number and names.get_symbol(number).name == symbol:
                    return int(relocation["r_offset"])
        if isinstance(section, SymbolTableSection) and section.name == ".symtab":
            for found in section.get_symbol_by_name(symbol) or ():
                return int(found["st_value"])
    raise AssertionError(f"{symbol} is not there")
