"""From a kernel file, preprocessed, to a C++ unit of block functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluators.cpu.emit import ENTRY, LDS_BYTES, SIGNATURE, Entry
from evaluators.cpu.fission import group_calls
from evaluators.cpu.fission.declarations import recognise
from evaluators.cpu.fission.emit import BLOCK_FILE, Emission
from evaluators.cpu.fission.exchange import file_lds, zone_edits, zoned_everywhere
from evaluators.cpu.fission.ir import Var
from evaluators.cpu.fission.lower import Lowering
from evaluators.cpu.fission.names import GROUPS_HEADER
from evaluators.cpu.fission.operations import Region as Cut
from evaluators.cpu.fission.regions import Regions
from evaluators.cpu.fission.source import (
    Function,
    Prototype,
    Unit,
    check_names,
    check_places,
    read,
)
from evaluators.cpu.fission.specialise import specialise
from evaluators.cpu.fission.tree import (
    UNKNOWN,
    Node,
    at_line,
    callee,
    leaf,
    render,
    unsupported,
)
from evaluators.cpu.fission.uniformity import Uniformity
from evaluators.cpu.fission.variables import Resolver
from evaluators.cpu.fission.vectors import follow

PREFIX = "ks_block_"
_HEAD = "unsigned KS_BX, unsigned KS_BY, unsigned KS_BZ"
_DIMS = """
constexpr int KS_X = KS_BX, KS_Y = KS_BY, KS_Z = KS_BZ, KS_THREADS = KS_X * KS_Y * KS_Z;
constexpr int KS_LANES = (KS_THREADS + WAVEFRONT - 1) / WAVEFRONT * WAVEFRONT;
constexpr bool KS_SIDE_BY_SIDE = KS_THREADS >= 128 && KS_X >= 16;
constexpr KsIndex blockDim = {KS_BX, KS_BY, KS_BZ};
const KsIndex blockIdx = ks_block.block, gridDim = ks_block.grid, threadIdx = {};
const int ks_t = 0;
"""
_HERE = "KsThread { threadIdx , blockIdx , blockDim , gridDim }"
_INDICES = (
    "const KsIndex threadIdx = ks_thread.thread, blockIdx = ks_thread.block, "
    "blockDim = ks_thread.dim, gridDim = ks_thread.grid;"
    "const int ks_t = ks_rank(threadIdx, blockDim);"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A kernel file as C++, with its kernels as they were cut, by name.

    named: name expressions of kernels, as the text has them.
    """

    text: str
    unit: Unit
    kernels: tuple[tuple[str, Emission], ...]
    named: Mapping[str, str]


def translate(source: str, kernels: Sequence[str]) -> Translation:
    """The kernel file's own text with block functions in place of its kernels.

    source: after the preprocessor, with the markers __global__, __shared__ and so on in it;
    kernels: name expressions. A name expression gemm<64> becomes block_name("gemm<64>", ...).
    Raises Rejected(UNSUPPORTED) with the line.
    """
    unit, named = _read(source, kernels)
    entries = list(named.values())
    wanted = _wanted(unit, entries)
    check_names(unit, entries)
    for f in unit.functions if unit.grouped else ():
        if not (f.kernel or f.collective):  # the others are changed where they are put in place
            group_calls.lower(f.node, None, unit.names)
    data = unit.source.data
    edits: list[tuple[int, int, str]] = []
    cut: list[tuple[str, Emission]] = []

    def block_function(f: Function) -> str:
        text, emission = _block_function(unit, f, sum(len(e.regions) for _, e in cut))
        cut.append((f.name, emission))
        return _ahead(f) + text

    for f in unit.functions:
        if f.copied:
            continue
        if f.kernel:
            text, after = "", at_line(_end_line(f.node))
            if f.name in wanted:
                text = block_function(f)
            if f.linkage:  # a template can't have it
                text = f'}}\n{text}\nextern "C" {{'
            edits.append((f.start, f.end, text + after))
        elif f.collective:
            edits.append((f.start, f.end, _ahead(f) + at_line(_end_line(f.node))))
        elif f.indexed:
            edits.append((f.start, f.end, _ahead(f) + _device_function(f)))
        else:
            edits += zone_edits(unit, f.body.walk())
    edits += zone_edits(unit, unit.shared)
    for prototype in unit.prototypes:
        edits += _prototype(unit, prototype)
    for shared in unit.shared:
        if shared.has_leaf("extern"):
            out: list[str] = []
            render(file_lds(shared), out, [UNKNOWN])
            edits.append((shared.start, shared.end, "".join(out)))
    check_places(unit)
    whole, at = [], 0
    for start, end, text in sorted(edits):
        if start < at:
            continue
        whole += [data[at:start].decode(), text]
        at = end
    whole += [data[at:].decode(), *map(block_function, unit.late)]
    return Translation(text="".join(whole), unit=unit, kernels=tuple(cut), named=named)


def _ahead(function: Function) -> str:
    """The copies of device functions that it calls, and those that they call."""
    return "".join(
        _ahead(one) + (_device_function(one) if one.indexed and not one.collective else "")
        for one in function.before
    )


def emit(
    translation: Translation,
    entries: Sequence[Entry],
    *,
    headers: Sequence[str],
    wavefront: int,
) -> str:
    """The C++ unit to compile; entry i is exported as ENTRY, its signature as SIGNATURE."""
    lines = [f"#define WAVEFRONT {wavefront}"]
    lines += [f"#include <{header}>" for header in headers]
    lines.append("#include <ks/fission.h>")
    if GROUPS_HEADER in headers:
        lines.append("#include <ks/fission_groups.h>")
    lines.append(f"KS_DYNAMIC_LDS({LDS_BYTES})")
    lines.append(translation.text)
    lines.append('#line 1 "launches"')
    for i, entry in enumerate(entries):
        block = block_name(translation.named.get(entry.kernel, entry.kernel), entry.block)
        lines.append(f"""typedef KsFission<{block}> KsKernel{i};
extern "C" {{
KS_EXPORT extern const KsSignature {SIGNATURE.format(i)} = KsKernel{i}::signature;
KS_EXPORT __attribute__((flatten)) void {ENTRY.format(i)}(const KsLaunch *launch) {{
    KsKernel{i}::run(launch, ks_dynamic_lds);
}}
}}""")
    return "\n".join(lines) + "\n"


def block_name(kernel: str, block: Sequence[int]) -> str:
    """The block function's name expression for a kernel's and the block's size."""
    name, angle, rest = kernel.partition("<")
    space, colons, plain = name.strip().rpartition("::")
    dims = ", ".join(map(str, block))
    return f"{space}{colons}{PREFIX}{plain}<{dims}" + (f", {rest}" if angle else ">")


def function_name(kernel: str) -> str:
    """Of a name expression: gemm of ours::gemm<64>."""
    return kernel.partition("<")[0].strip().rpartition("::")[2]


def _read(source: str, kernels: Sequence[str]) -> tuple[Unit, Mapping[str, str]]:
    """The unit, and name expressions of its kernels as they are in it."""
    unit = read(source)
    for function in unit.functions:
        recognise(function.body)
    named = specialise(unit, kernels)
    _pass_indices(unit)
    return unit, named


def _wanted(unit: Unit, kernels: Sequence[str]) -> set[str]:
    names = {function_name(k) for k in kernels}
    for name in names:
        found = [f for f in unit.named(name) if f.kernel]
        if len(found) > 1:
            raise unsupported(f"{name}: several kernels of this name", found[1].node.line)
    return names


def _block_function(unit: Unit, function: Function, first: int) -> tuple[str, Emission]:
    """first: the number of its first region."""
    lowering = Lowering(unit)
    items = lowering.kernel(function)
    resolver = Resolver(unit)
    params = resolver.kernel(function, items)
    uniformity = Uniformity(items, resolver.variables, resolver.purity)
    uniformity.solve()
    _rename(resolver)
    ops = Regions(uniformity).build(items)
    for region in (op for op in ops if isinstance(op, Cut)):
        follow([step.node for step in region.steps])
    emission = Emission(ops, first)
    for var in emission.stored:
        if var.is_lambda or var.is_reference:
            raise unsupported(f"{var.name}, which lives across a barrier", var.line)
    body = emission.write()
    head = [_HEAD]
    if function.template is not None:
        head += [str(k) for k in function.template.kids if k.kind.endswith("declaration")]
    arguments = ["const KsBlock &ks_block", *map(str, function.params)]
    start = "".join(_start(v) for v in params if v in emission.stored)
    slots = "\n".join(lowering.slots.values())
    return (
        f"{at_line(1, BLOCK_FILE)}template <{', '.join(head)}>\nstatic int {PREFIX}{function.name}"
        f"({', '.join(arguments)}) {{{_DIMS}{slots}\n{start}{body}\nreturn 0;\n}}",
        emission,
    )


def _end_line(node: Node) -> int:
    return max(one.line for one in node.leaves())


def _start(var: Var) -> str:
    return (
        f"KsBare<decltype({var.name})> ks_v_{var.name}[KS_THREADS];\n"
        f"for (int i = 0; i < KS_THREADS; ++i) ks_v_{var.name}[i] = {var.name};\n"
    )


def _rename(resolver: Resolver) -> None:
    """Give every variable a name of its own, so that regions can declare any of them again."""
    taken = resolver.foreign | resolver.nested
    for i, var in enumerate(resolver.variables):
        if var.name in taken and not var.is_param:
            var.name = f"{var.name}_ks{i}"
        for one in var.mentions:  # also those by a reference parameter's name
            one.text = var.name
        taken.add(var.name)


def _pass_indices(unit: Unit) -> None:
    """Device functions that use indices get them as their first argument."""
    names = {f.name for f in unit.functions if f.indexed and not f.collective}
    for f in unit.functions:
        if not f.indexed:
            continue
        for call in [one for one in f.body.walk() if one.kind == "call_expression"]:
            word = callee(call)
            listed = call.need("arguments")
            if word == "__lane_id":
                call.become(leaf("ks_lane ( threadIdx , blockDim )", call.line, "lane"))
            elif word in names:
                comma = " ," if len(listed.kids) > 2 else ""
                listed.kids.insert(1, leaf(_HERE + comma, call.line, "indices"))


def _device_function(function: Function) -> str:
    node: Node = function.node
    while node.kind != "function_declarator":
        node = node.need("declarator")
    _take_indices(node)
    function.body.kids.insert(1, leaf(_INDICES, function.body.line))
    for one in [one for one in function.body.walk() if one.kind == "shared_declaration"]:
        one.become(zoned_everywhere(one))
    return _rendered(function.outer)


def _prototype(unit: Unit, prototype: Prototype) -> list[tuple[int, int, str]]:
    """It goes with what it declares: away, or with indices among its parameters."""
    found = unit.named(prototype.name)
    where = (prototype.start, prototype.outer.end)
    if any(f.kernel or f.collective for f in found):
        return [(*where, at_line(_end_line(prototype.outer)))]
    if not any(f.indexed for f in found):
        return []
    _take_indices(prototype.declarator)
    return [(*where, _rendered(prototype.outer))]


def _take_indices(declarator: Node) -> None:
    listed = declarator.need("parameters")
    named = [k for k in listed.kids if k.kind.endswith("declaration") and str(k) != "void"]
    comma = " ," if named else ""
    if not named:
        listed.kids = [listed.kids[0], listed.kids[-1]]
    listed.kids.insert(1, leaf(f"const KsThread & ks_thread{comma}", declarator.line))


def _rendered(outer: Node) -> str:
    out: list[str] = []
    render(outer, out, [UNKNOWN])
    return "".join(out) + at_line(_end_line(outer))
