"""What the engines on cpu share: entries, their names, and the words that none of them knows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Dim3
from evaluators.kernel.porting.library_names import as_written
from evaluators.kernel.tokens import Token

ENGINE = "cpu-fission"
"""The engine that is timed where it can be; see fission/, and fibers.py for the others."""

LDS_BYTES = 64 << 10
ENTRY = "__ks_entry_{}"
SIGNATURE = "__ks_signature_{}"

_NOT_HERE = re.compile(
    r"clock|clock64|wall_clock64|__nanosleep|hipLaunchKernelGGL|malloc|__match_\w+|"
    r"__reduce_\w+_sync|__lanemask\w*|__ockl_\w+|"
    r"__builtin_amdgcn_(?!s_barrier$|wave_barrier$)\w+"
)
_DYNAMIC_LDS = re.compile(
    r"\b(?:extern\s+__shared__|__shared__\s+extern)\s+(?P<type>[^;\[\]=]+?)\s*\b(?P<name>\w+)\s*"
    r"\[\s*\](?P<rows>(?:\s*\[[^\[\];]*\])*)\s*;"
)
_ALIGNMENT = re.compile(
    r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|alignas\s*\([^()]*\)|__align__\s*\([^()]*\)"
)
_STATIC_LDS = re.compile(r"\bstatic\s+(?=__shared__\b)|(?<=__shared__)\s+static\b")
_UNROLL = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(unroll|nounroll|once|clang)\b.*$", re.MULTILINE)


def entry_key(kernel: str, block: Sequence[int]) -> str:
    """The name of an entry: of a kernel as the front matter says it, and the block's size."""
    return f"{kernel} [{'x'.join(map(str, block))}]"


class Emit(Protocol):
    """An engine: from a kernel's own text to the C++ unit to compile."""

    def __call__(
        self,
        source: str,
        entries: "Sequence[Entry]",
        *,
        headers: Sequence[str],
        wavefront: int,
    ) -> str:
        """Entry i is exported as ENTRY, its signature as SIGNATURE.

        source: after the preprocessor, with its line markers. headers: what to include ahead of
        it; wavefront: what WAVEFRONT stands for in them. Raises Rejected.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One way in: a kernel, by its name expression, launched with blocks of one size.

    kernel: as the code says it, with names apart from a library's (library_names.py).
    """

    kernel: str
    block: Dim3

    @property
    def key(self) -> str:
        """The name under which a binary's symbols and resources list it."""
        return entry_key(as_written(self.kernel), self.block)


def check_words(words: Sequence[Token]) -> None:
    """Raises Rejected(UNSUPPORTED) for what no engine on cpu can run."""
    for token in words:
        if token.kind == "word" and _NOT_HERE.fullmatch(token.text):
            raise Rejected(
                Status.UNSUPPORTED, f"{token.text} does not exist on cpu", line=token.line
            )


def own_text(source: str) -> str:
    """Dynamic LDS becomes a pointer to the arena; loop pragmas go, and static beside __shared__.

    Compilers vectorise a loop before they unroll it; told to unroll first, g++ 12 makes
    a register tile ten times slower (55 against 4 GFLOP/s) and compiles it ten times longer.
    """
    source = _STATIC_LDS.sub(" ", _UNROLL.sub("", source))  # __shared__ alone is static there

    def pointer(found: re.Match[str]) -> str:
        element = " ".join(_ALIGNMENT.sub("", found["type"]).split())
        rows = found["rows"]
        return f"{element} (*const {found['name']}){rows} = ({element} (*){rows})ks_dynamic_lds;"

    return _DYNAMIC_LDS.sub(pointer, source)
