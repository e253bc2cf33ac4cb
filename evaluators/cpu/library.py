"""What a kernel's shared library may hold: refuses code that would run on loading, reads facts."""

import io
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Symbol, SymbolTableSection

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.static_memory import check_static_memory

SIGNATURE = {
    "p": "a pointer",
    "b": "a bool",
    "c": "an int8",
    "s": "an int16",
    "i": "an int32",
    "l": "an int64",
    "h": "a float16",
    "g": "a bfloat16",
    "f": "a float32",
    "d": "a float64",
    "r": "a reference, which no launch can give",
}
"""Codes of parameter types, as include/cpu/ks/entry.h writes them: integers with or without sign.
x24a8 is a struct of 24 bytes, aligned to 8."""

_MATH = frozenset(
    """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2
    expm1 fabs fdim floor fma fmax fmin fmod hypot ldexp lgamma log log10 log1p log2 lrint
    nearbyint pow remainder rint round roundeven scalbn sin sincos sinh sqrt tan tanh tgamma
    trunc
    """.split()  # noqa: SIM905 (a list of 44 lines otherwise)
)
ALLOWED_SYMBOLS = frozenset(
    [*_MATH, *(f"{name}f" for name in _MATH), "memcpy", "memmove", "memset", "memcmp"]
)
"""What a library may leave to the run child: libm, and what compilers make of loops over bytes."""

_RUN_ON_LOADING = {
    "DT_INIT": "an initialiser",
    "DT_FINI": "a finaliser",
    "DT_INIT_ARRAY": "a constructor",
    "DT_FINI_ARRAY": "a destructor",
    "DT_PREINIT_ARRAY": "a constructor",
}
_REFUSED_TAGS = {
    "DT_NEEDED": "a library of its own",
    "DT_TEXTREL": "relocations in its code",
    "DT_RPATH": "a search path",
    "DT_RUNPATH": "a search path",
    "DT_AUDIT": "an auditor",
    "DT_DEPAUDIT": "an auditor",
}
_IRELATIVE = {"EM_X86_64": 37, "EM_AARCH64": 1032}
_LIBRARY_FUNCTION = re.compile(r"[a-z]\w*")
_PF_X, _PF_W = 1, 2
_DF_TEXTREL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryFacts:
    """signatures: codes of the parameters, by entry. objects: bytes by local symbol."""

    signatures: tuple[str, ...]
    objects: Mapping[str, int]


def check_library(
    data: bytes, *, entry: str, signature: str, count: int, ours: int = 0
) -> LibraryFacts:
    """Raises Rejected when loading the library would run code, or it asks for what it may not.

    entry, signature: names of the exported symbols, with {} for their number below count.
    ours: see check_static_memory.
    """
    exported = {name.format(i) for name in (entry, signature) for i in range(count)}
    try:
        elf = ELFFile(io.BytesIO(data))
        check_static_memory(elf, ours=ours)
        _check_segments(elf)
        _check_dynamic(elf)
        _check_relocations(elf)
        _check_symbols(elf, exported)
        return LibraryFacts(
            signatures=tuple(_text(elf, data, signature.format(i)) for i in range(count)),
            objects=dict(_objects(elf)),
        )
    except ELFError as error:
        raise Rejected(
            Status.COMPILE_ERROR, f"the compiler made no sound library: {error}"
        ) from None


def _check_segments(elf: ELFFile) -> None:
    for segment in elf.iter_segments():
        flags = segment["p_flags"]
        if segment["p_type"] == "PT_GNU_STACK" and flags & _PF_X:
            raise _forbidden("the kernel needs an executable stack")
        if segment["p_type"] == "PT_LOAD" and flags & _PF_X and flags & _PF_W:
            raise _forbidden("the kernel needs memory both writable and executable")
        if segment["p_type"] in ("PT_TLS", "PT_INTERP"):
            raise _forbidden(f"the kernel needs a segment of type {segment['p_type']}")


def _check_dynamic(elf: ELFFile) -> None:
    for section in elf.iter_sections():
        if section["sh_type"] in ("SHT_INIT_ARRAY", "SHT_FINI_ARRAY", "SHT_PREINIT_ARRAY"):
            kind = _RUN_ON_LOADING["DT_" + section["sh_type"].removeprefix("SHT_")]
            raise _runs_on_loading(kind)
        if not isinstance(section, DynamicSection):
            continue
        for tag in section.iter_tags():
            if tag.entry.d_tag == "DT_FLAGS" and tag.entry.d_val & _DF_TEXTREL:
                raise _forbidden(f"the kernel's library brings {_REFUSED_TAGS['DT_TEXTREL']}")
            if kind := _RUN_ON_LOADING.get(tag.entry.d_tag, ""):
                raise _runs_on_loading(kind)
            if what := _REFUSED_TAGS.get(tag.entry.d_tag):
                raise _forbidden(f"the kernel's library brings {what}")


def _runs_on_loading(kind: str) -> Rejected:
    return _forbidden(
        f"{kind} would run before any launch: a global object needs a constant initialiser"
    )


def _check_relocations(elf: ELFFile) -> None:
    irelative = _IRELATIVE.get(elf["e_machine"])
    for section in elf.iter_sections():
        if isinstance(section, RelocationSection):
            for relocation in section.iter_relocations():
                if relocation["r_info_type"] == irelative:
                    raise _forbidden("an indirect function's resolver would run on loading")


def _check_symbols(elf: ELFFile, exported: Collection[str]) -> None:
    for symbol in symbols_of(elf, ".symtab", ".dynsym"):
        if symbol["st_info"]["type"] in ("STT_GNU_IFUNC", "STT_LOOS"):
            raise _forbidden("an indirect function's resolver would run on loading")
    missing: set[str] = set()
    for symbol in symbols_of(elf, ".dynsym"):
        name = symbol.name
        if symbol["st_shndx"] == "SHN_UNDEF":
            if name and name not in ALLOWED_SYMBOLS:
                missing.add(name)
        elif symbol["st_info"]["bind"] != "STB_LOCAL" and name not in exported:
            raise _forbidden(f"the kernel exports {name!r}, which is none of its entries")
    if used := [name for name in sorted(missing) if _LIBRARY_FUNCTION.fullmatch(name)]:
        raise _forbidden(f"the kernel uses {', '.join(used)} of the C library, which no kernel may")
    if missing:
        names = ", ".join(sorted(missing))
        raise Rejected(
            Status.COMPILE_ERROR, f"{names}: declared but not defined, or not available on cpu"
        )


def symbols_of(elf: ELFFile, *tables: str) -> Iterator[Symbol]:
    """tables: section names; one that is not there has none."""
    for table in tables:
        section = elf.get_section_by_name(table)
        if isinstance(section, SymbolTableSection):
            yield from section.iter_symbols()


def _text(elf: ELFFile, data: bytes, name: str) -> str:
    """The zero-terminated characters of an exported object."""
    for symbol in symbols_of(elf, ".dynsym"):
        if symbol.name == name:
            for offset in elf.address_offsets(symbol["st_value"], symbol["st_size"]):
                return data[offset : offset + symbol["st_size"]].split(b"\0")[0].decode("ascii")
    raise ELFError(f"{name} is missing")


def _objects(elf: ELFFile) -> Iterator[tuple[str, int]]:
    for symbol in symbols_of(elf, ".symtab"):
        if symbol["st_info"]["type"] == "STT_OBJECT":
            yield symbol.name, symbol["st_size"]


def _forbidden(reason: str) -> Rejected:
    return Rejected(Status.FORBIDDEN, reason)
