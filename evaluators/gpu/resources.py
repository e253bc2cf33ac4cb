"""What compiled code takes: registers, LDS, scratch, arguments; read from gfx942 ELF or cubin."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgpack
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from evaluators.gpu.cubin import cubin_kernels
from evaluators.gpu.occupancy import Occupancy, occupancy
from evaluators.kernel.static_memory import check_static_memory

NT_AMDGPU_METADATA = 32
_TYPES = {
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "long long": "int64",
    "float": "float32",
    "double": "float64",
    "__half": "float16",
    "_Float16": "float16",
    "__hip_bfloat16": "bfloat16",
    "__nv_bfloat16": "bfloat16",
}


class NotACodeObject(ValueError):
    """Bytes that are neither an AMD code object nor a cubin; says what was missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelArgument:
    """One explicit argument: its place in the packed buffer, in bytes.

    type: pointer, or a scalar's as in dtypes.SCALARS (int32: unsigned too); "value" for another or
    an unknown one passed by value, "" when even that is not known.
    """

    offset: int
    size: int
    type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What one kernel of a module takes, known before it ever runs.

    registers: 32-bit registers a lane; on CDNA the unified count, AGPRs included.
    agprs, sgprs, vgpr_spills, sgpr_spills: 0 on NVIDIA (a cubin counts no spills).
    lds_bytes: static LDS (NVIDIA: shared memory) a block, without what the system reserves.
    scratch_bytes: private memory a lane (NVIDIA: stack frame in local memory).
    max_threads: of a block, as compiled; None when the code doesn't say.
    mfma, wide_loads, loads: instructions in the code: matrix instructions, 16-byte loads from
        global memory, all loads from global memory; None when it wasn't disassembled.
    """

    symbol: str
    arch: str
    registers: int
    agprs: int = 0
    sgprs: int = 0
    lds_bytes: int = 0
    scratch_bytes: int = 0
    vgpr_spills: int = 0
    sgpr_spills: int = 0
    args: tuple[KernelArgument, ...] = ()
    max_threads: int | None = None
    mfma: int | None = None
    wide_loads: int | None = None
    loads: int | None = None

    def occupancy(self, block_threads: int, dynamic_lds_bytes: int = 0) -> Occupancy | None:
        """Resident wavefronts for such a launch; None for an architecture without rules."""
        return occupancy(
            self.arch,
            registers=self.registers,
            sgprs=self.sgprs,
            lds_bytes=self.lds_bytes + dynamic_lds_bytes,
            block_threads=block_threads,
        )


def amdgpu_metadata(code: bytes) -> dict[str, Any]:
    """The msgpack note of an AMD code object, V3 and later. Raises NotACodeObject.

    Source: LLVM, User Guide for AMDGPU Backend, "Code Object V3 Metadata" and later.
    """
    for section in _elf(code).iter_sections():
        if not isinstance(section, NoteSection):
            continue
        for entry in section.iter_notes():
            note: Mapping[str, Any] = entry  # pyelftools types n_type as str; here it's a number
            if note["n_name"] == "AMDGPU" and note["n_type"] == NT_AMDGPU_METADATA:
                return cast(dict[str, Any], msgpack.unpackb(note["n_descdata"]))
    raise NotACodeObject("an ELF file without AMDGPU metadata is no AMD code object")


def _elf(code: bytes) -> ELFFile:
    try:
        return ELFFile(io.BytesIO(code))
    except ELFError as error:
        raise NotACodeObject(f"{len(code)} bytes that are no ELF file: {error}") from error


def read_resources(
    code: bytes,
    mnemonics: Mapping[str, Mapping[str, int]] | None = None,
    signatures: Mapping[str, str] | None = None,
) -> tuple[Resources, ...]:
    """Every kernel of an AMD code object or a cubin. Raises NotACodeObject, and Rejected for one
    whose global variables take too much memory.

    mnemonics: symbol -> mnemonic -> how often it stands in the code, from a disassembler.
    signatures: symbol -> demangled name with parameter types.
    """
    elf = _elf(code)
    check_static_memory(elf)
    if elf["e_machine"] == "EM_CUDA":
        return tuple(
            _nvidia(kernel, _parameter_types((signatures or {}).get(kernel["symbol"], "")))
            for kernel in cubin_kernels(elf)
        )
    metadata = amdgpu_metadata(code)
    arch = metadata["amdhsa.target"].split("--")[-1].split(":")[0]
    return tuple(
        _amd(
            kernel,
            arch,
            (mnemonics or {}).get(kernel[".name"]),
            _parameter_types((signatures or {}).get(kernel[".name"], "")),
        )
        for kernel in metadata["amdhsa.kernels"]
    )


def _nvidia(kernel: Mapping[str, Any], types: list[str]) -> Resources:
    values = dict(kernel)
    places = values.pop("parameters")
    if len(types) != len(places):
        types = [""] * len(places)
    args = tuple(
        KernelArgument(offset=offset, size=size, type=type_)
        for (offset, size), type_ in zip(places, types, strict=True)
    )
    return Resources(args=args, **values)


def _parameter_types(signature: str) -> list[str]:
    """Of "void scale<2>(float*, int)": ["pointer", "int32"]; empty where there are none."""
    if not signature.endswith(")"):
        return []
    depth, parts = 0, [""]
    for sign in reversed(signature[:-1]):
        depth += (sign in ")>") - (sign in "(<")
        if depth < 0:
            break
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] = sign + parts[-1]
    return [_type_of(part.strip()) for part in reversed(parts)]


def _type_of(spelled: str) -> str:
    if spelled.removesuffix(" __restrict").rstrip().endswith("*"):
        return "pointer"
    return _TYPES.get(spelled.removeprefix("unsigned "), "value")


def _amd(
    kernel: Mapping[str, Any], arch: str, counts: Mapping[str, int] | None, types: list[str]
) -> Resources:
    explicit = [a for a in kernel.get(".args", ()) if not a[".value_kind"].startswith("hidden_")]
    if len(types) != len(explicit):
        types = ["value"] * len(explicit)
    return Resources(
        symbol=kernel[".name"],
        arch=arch,
        registers=kernel[".vgpr_count"],
        agprs=kernel.get(".agpr_count", 0),
        sgprs=kernel[".sgpr_count"],
        lds_bytes=kernel[".group_segment_fixed_size"],
        scratch_bytes=kernel[".private_segment_fixed_size"],
        vgpr_spills=kernel.get(".vgpr_spill_count", 0),
        sgpr_spills=kernel.get(".sgpr_spill_count", 0),
        args=tuple(
            KernelArgument(
                offset=a[".offset"],
                size=a[".size"],
                type="pointer" if a[".value_kind"] == "global_buffer" else spelled,
            )
            for a, spelled in zip(explicit, types, strict=True)
        ),
        max_threads=kernel.get(".max_flat_workgroup_size"),
        **({} if counts is None else _instruction_counts(counts)),
    )


def _instruction_counts(counts: Mapping[str, int]) -> dict[str, int]:
    loads = {
        name: n
        for name, n in counts.items()
        if name.startswith(("global_load_", "flat_load_", "buffer_load_"))
    }
    return {
        "mfma": sum(n for name, n in counts.items() if name.startswith(("v_mfma_", "v_smfmac_"))),
        "loads": sum(loads.values()),
        "wide_loads": sum(n for name, n in loads.items() if name.endswith("_dwordx4")),
    }
