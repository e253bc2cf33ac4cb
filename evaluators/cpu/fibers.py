"""Every GPU thread a fiber of its own: the oracle, which watches them, and what is timed at need.

The oracle shares with the translator no more than the list of the source's functions. It is never
timed. Blocks, wavefronts and threads take turns in random orders, so that a missing barrier shows,
and every access is watched, so that one that another thread's could precede or follow shows: see
include/cpu/ks/races.h. Others come between the atomic operations of a thread, so that those which
are right one by one only show too: see include/cpu/ks/interrupts.h.

A kernel that can't be translated is timed with threads that switch where they wait, in the order of
their numbers and unwatched; one that waits for nobody as threads that come one after another.
"""

import functools
import re
import secrets
from collections.abc import Iterable, Sequence

from evaluators.cpu.emit import ENTRY, LDS_BYTES, SIGNATURE, Entry, own_text
from evaluators.cpu.fission import groups
from evaluators.cpu.fission.exchange import zone_edits
from evaluators.cpu.fission.names import COLLECTIVES, GROUPS, GROUPS_HEADER
from evaluators.cpu.fission.source import is_generated, read
from evaluators.cpu.fission.tree import LOOPS, Node, Spanned, callee, unsupported
from evaluators.kernel.tokens import preprocessed_tokens

ENGINE = "cpu-fibers"
SWITCHING = "cpu-switching"
"""Times what can't be translated."""

SAMPLING = "cpu-fibers-sampling"
"""Runs some blocks of each launch, until they have made about SAMPLE_ACCESSES."""

SAMPLE_ACCESSES = 6_000_000
"""Of a launch: some 0.3 s on a core of 2.4 GHz; at most three times as many (see ks/sample.h)."""

STATIC_BYTES = 155 << 20
"""At least so much do two blocks' stacks and the tables of writes take (ks/fibers.h, races.h)."""

SWITCHING_STATIC_BYTES = 64 << 20
"""At least so much do the stacks of a kernel take that is timed, where its threads wait."""

_BUILTIN_ATOMICS = re.compile(r"_[aA]tomic|__sync_")
"""Or names like theirs; see ks/access_hooks.h."""


def emit(
    source: str,
    entries: Sequence[Entry],
    *,
    headers: Sequence[str],
    wavefront: int,
    sample: int = 0,
) -> str:
    """The C++ unit to compile, with the same entries as the engine that is timed.

    The seed of its orders is drawn here, once a unit: no kernel knows it. sample: accesses after
    which no further block of a launch is run; 0 for all blocks.
    """
    own = _with_calls(_with_zones(source))
    lines = [*_oracle(source, sample), *_prelude(headers, wavefront, entries, "ks/fibers.h")]
    return _unit(lines, own, entries, _FIBERS)


emit_sampling = functools.partial(emit, sample=SAMPLE_ACCESSES)


def emit_switching(
    source: str, entries: Sequence[Entry], *, headers: Sequence[str], wavefront: int
) -> str:
    """The unit of a kernel that is timed without being translated.

    Raises Rejected(UNSUPPORTED): names of generated code.
    """
    words = list(preprocessed_tokens(source))
    for word in words:
        if is_generated(word.text):
            raise unsupported(f"{word.text}: names that begin with ks_ are its own", word.line)
    if not waits(word.text for word in words):
        lines = _prelude(headers, wavefront, entries, "ks/threads.h")
        return _unit(lines, _with_zones(source), entries, _ONE_BY_ONE)
    lines = _prelude(headers, wavefront, entries, "ks/fibers.h")
    return _unit(lines, _with_calls(_with_zones(source)), entries, _FIBERS)


def as_written(
    source: str, entries: Sequence[Entry], *, headers: Sequence[str], wavefront: int
) -> str:
    """A unit with the kernel's text as it is, to see whether a compiler takes that."""
    lines = [*_oracle(source, 0), *_prelude(headers, wavefront, entries, "ks/fibers.h")]
    return _unit(["#define KS_AS_WRITTEN", *lines], source, entries, _FIBERS)


def waits(words: Iterable[str]) -> bool:
    """Whether threads of a source with these words may wait for each other."""
    return not {*COLLECTIVES, GROUPS}.isdisjoint(words)


_FIBERS = "KS_QUIET void {export}(const KsLaunch *launch) {{ {block}KsFibers<{kernel}>"
_ONE_BY_ONE = "void {export}(const KsLaunch *launch) {{ {block}KsKernel<{kernel}>"


def _unit(lines: Sequence[str], source: str, entries: Sequence[Entry], runs: str) -> str:
    """runs: how an entry begins, up to the template that runs a kernel."""
    blocks = {entry.block for entry in entries}
    lines = [*lines, own_text(source), '#line 1 "launches"']
    for i, entry in enumerate(entries):
        block = f"blockDim = {{{_dims(entry.block)}}}; " if len(blocks) > 1 else ""
        begun = runs.format(export=ENTRY.format(i), block=block, kernel=entry.kernel)
        lines.append(f"""typedef KsKernel<{entry.kernel}> KsKernel{i};
extern "C" {{
KS_EXPORT extern const KsSignature {SIGNATURE.format(i)} = KsKernel{i}::signature;
KS_EXPORT {begun}::run<{_dims(entry.block)}>(launch); }}
}}""")
    return "\n".join(lines) + "\n"


def _oracle(source: str, sample: int) -> list[str]:
    return [
        *(["#define KS_BUILTIN_ATOMICS"] if _BUILTIN_ATOMICS.search(source) else []),
        "#define KS_ORACLE",
        f"#define KS_SEED {secrets.randbits(64)}ull",
        f"#define KS_SAMPLE {sample}ull",
    ]


def _prelude(
    headers: Sequence[str], wavefront: int, entries: Sequence[Entry], runner: str
) -> list[str]:
    """runner: our header that runs threads. blockDim is a constant where all launches agree."""
    blocks = {entry.block for entry in entries}
    constant = [f"static constexpr KsIndex blockDim{{{_dims(one)}}};" for one in blocks]
    return [
        f"#define WAVEFRONT {wavefront}",
        *(f"#include <{header}>" for header in headers),
        f"#include <{runner}>",
        *(constant if len(constant) == 1 else ["static KsIndex blockDim;"]),
        *(["#include <ks/fiber_groups.h>"] if GROUPS_HEADER in headers else []),
        f"KS_DYNAMIC_LDS({LDS_BYTES})",
    ]


def _with_zones(source: str) -> str:
    """LDS between guards, as the other engine has it."""
    unit = read(source)
    data = unit.source.data
    out, at = [], 0
    for start, end, text in sorted(zone_edits(unit, unit.source.root.walk())):
        out += [data[at:start].decode(), text]
        at = end
    return "".join([*out, data[at:].decode()])


def _with_calls(source: str) -> str:
    """Mark loops, and calls of functions, that hold barriers or wavefront operations.

    So a fiber knows where it waits: lanes that took different ways meet again where their ways
    join, which is what comes first in the order of the source.
    """
    unit = read(source)
    words = COLLECTIVES | unit.with_property("collective")
    called = words - COLLECTIVES

    def waits(node: Node) -> bool:
        return unit.grouped and any(groups.is_call(one) for one in node.walk())

    marks: list[tuple[int, int, int, str]] = []

    def mark(node: Node, before: str, after: str) -> None:
        """The longer of two nodes that start or end together encloses the other."""
        assert isinstance(node, Spanned)
        size = node.end - node.start
        marks.append((node.start, 1, -size, before))
        marks.append((node.end, 0, size, after))

    for f in unit.functions:
        loops = 0
        for one in f.body.walk() if f.collective else ():
            grouped = unit.grouped and groups.is_call(one)
            if grouped or (one.kind == "call_expression" and callee(one) in called):
                mark(one, "KS_CALL(", ")")
            elif one.kind in LOOPS and (any(k.text in words for k in one.leaves()) or waits(one)):
                loops += 1
                count = f"ks_loop{loops}"
                mark(one, f"{{ KsLoop {count}(__COUNTER__); ", " }")
                cond = one.get("condition")
                if one.kind == "while_statement" and cond is not None:
                    cond = cond.get("value")
                if cond is not None and one.kind in ("for_statement", "while_statement"):
                    mark(cond, f"({count}.next(), (", "))")
                else:
                    mark(one.need("body"), f"{{ {count}.next(); ", " }")
    data = unit.source.data
    out, at = [], 0
    for place, _, _, text in sorted(marks):
        out += [data[at:place].decode(), text]
        at = place
    return "".join([*out, data[at:].decode()])


def _dims(block: Sequence[int]) -> str:
    return ", ".join(map(str, block))
