"""A block function in C++: regions as loops over threads, block-level lines between them."""

from evaluators.cpu.fission.ir import Step, Var
from evaluators.cpu.fission.operations import Declare, Line, Op, Region
from evaluators.cpu.fission.tree import UNKNOWN, Node, at_line, render

SMALL = 64  # elements of an array that is copied into each region and back
BLOCK_FILE = "ks_block"
THREADS_FILE = "ks_threads"
"""Where generated loops stand for all that a compiler says of them, lest it be taken for a loop of
the kernel's own: those of the block, and those over a region's threads."""
THREADS_LINES = 1000
"""Region n's loop over threads stands in the lines from n times as many on."""


class Emission:
    """Writes the operations of one kernel."""

    def __init__(self, ops: list[Op], first: int = 0) -> None:
        """first: the number of the first region, among all of a file."""
        self.ops = ops
        self.regions = [op for op in ops if isinstance(op, Region)]
        for number, region in enumerate(self.regions, first):
            region.number = number
        self.stored = _stored(self.regions)
        self.out: list[str] = []
        self.at = [UNKNOWN]

    def write(self) -> str:
        for op in self.ops:
            match op:
                case Line():
                    if op.opens_loop:
                        self.elsewhere(BLOCK_FILE)
                    self.put("\n", *op.parts)
                case Declare():
                    self.declare(op.var)
                case Region():
                    self.region(op)
        return "".join(self.out)

    def put(self, *parts: Node | str) -> None:
        for part in parts:
            if isinstance(part, Node):
                render(part, self.out, self.at)
            else:
                self.at[0] += part.count("\n")
                self.out.append(part + " ")

    def elsewhere(self, file: str, line: int = 1) -> None:
        """What is generated next stands in no line of the kernel."""
        self.out.append(at_line(line, file))
        self.at[0] = UNKNOWN

    def declare(self, var: Var) -> None:
        """For each thread a place of its own; and the bare name, for decltype only."""
        if var.is_lambda:
            return
        if var.is_auto and var.decl is not None:
            value = var.decl.node.need("declarator").need("value")
            self.put("\nKsMade<KsDecay<decltype(", value, f")>> {var.name};")
        else:
            self.put(f"\nKsMade<KsBare<{var.type_id()}>> {var.name};")
        if var in self.stored:
            self.put(f"alignas(64) decltype({var.name}) ks_v_{var.name}[KS_THREADS];")

    def region(self, region: Region) -> None:
        put = self.put
        scalar = not self.vectorised(region)
        self.elsewhere(THREADS_FILE, region.number * THREADS_LINES)
        put("for (int ks_z = 0; ks_z < KS_Z; ++ks_z) for (int ks_y = 0; ks_y < KS_Y; ++ks_y)\n")
        sums = [name for step in region.steps for name in step.sums]
        if not scalar:
            reduction = f" reduction(+:{', '.join(sums)})" if sums else ""
            put(f"#pragma omp simd{reduction}\n")
        put(
            "for (int ks_x = 0; ks_x < KS_X; ++ks_x) {\n"
            "const KsIndex threadIdx = {(unsigned)ks_x, (unsigned)ks_y, (unsigned)ks_z};\n"
            "const int ks_t = (ks_z * KS_Y + ks_y) * KS_X + ks_x;\n"
        )
        if region.mask is not None:
            put(f"if (!{region.mask}[ks_t]) {{")
            for step in region.steps:
                put(*(f"{name}[ks_t] = 0;" for name in step.clears))
                if step.puts is not None:
                    slot, value = step.puts
                    if value is None:
                        put(f"{slot}[ks_t] = false;")
                    else:
                        put(f"ks_put({slot}, ks_t, KsDecay<decltype(", value, ")>());")
            put("continue; }\n")
        declared = region.declared
        kept = []
        for var in sorted(region.used - declared, key=lambda v: v.order):
            if var.derived and var.decl is not None:
                put(var.decl.node, "\n")
            elif var in self.stored:
                if self.in_place(var, region):
                    put(f"auto &{var.name} = ks_v_{var.name}[ks_t];\n")
                else:
                    put(
                        f"decltype({var.name}) {var.name}; "
                        f"ks_assign({var.name}, ks_v_{var.name}[ks_t]);\n"
                    )
                    kept += [var] if var in region.written else []
        if region.label is not None:
            put("{")
        for step in region.steps:
            self.step(step, region)
            if step.declares in self.stored and not self.in_place(step.declares, region):
                kept.append(step.declares)
        if region.label is not None:
            put(f"}} {region.label}:;")
        for var in kept:
            put(f"\nks_assign(ks_v_{var.name}[ks_t], {var.name});")
        put("\n}")

    def step(self, step: Step, region: Region) -> None:
        var = step.declares
        if var is None or var not in self.stored or not self.in_place(var, region):
            self.put(step.node)
            return
        self.put(f"\nauto &{var.name} = ks_v_{var.name}[ks_t];")
        declarator = step.node.need("declarator")
        if declarator.kind == "init_declarator":
            named = var.mentions[0]
            named.text = "ks_init"
            self.put("{", step.node, f"ks_assign({var.name}, ks_init); }}\n")
            named.text = var.name

    def vectorised(self, region: Region) -> bool:
        """Whether to ask for the region's threads side by side in vectors.

        Not round atomics. Not round arrays of a thread, whose own loops vectorise: g++ 12 would
        lay such arrays out by lane, and a register tile took 2 to 4 times longer. And not in a
        kernel of one region, where g++ decides better by itself: it obeys where this does not pay.
        """
        if len(self.regions) == 1 or any(step.atomic for step in region.steps):
            return False
        return not any(var.is_array for var in region.used) and not any(
            one.kind == "array_declarator" for step in region.steps for one in step.node.walk()
        )

    def in_place(self, var: Var, region: Region) -> bool:
        """Whether the region works on the thread's own place rather than on a copy."""
        return var.escapes or region.label is not None or _elements(var) > SMALL


def _stored(regions: list[Region]) -> set[Var]:
    """Fill in what each region uses; the variables that must live from one region to another."""
    seen: dict[Var, int] = {}
    stored: set[Var] = set()
    for i, region in enumerate(regions):
        for step in region.steps:
            region.used |= step.reads | step.writes
            region.written |= step.writes
        _close(region)
        region.used = {v for v in region.used if not (v.uniform or v.is_fixed)}
        for var in region.used:
            if seen.setdefault(var, i) != i and not var.derived:
                stored.add(var)
    return stored | {v for v in seen if v.is_param or (v.escapes and not v.derived)}


def _close(region: Region) -> None:
    """Add what recomputed variables and lambdas need in turn."""
    todo = list(region.used)
    while todo:
        var = todo.pop()
        if var.decl is None or not (var.derived or var.is_lambda):
            continue
        reached = var.decl.reads | (var.decl.writes if var.is_lambda else set())
        if var.is_lambda:
            region.written |= var.decl.writes - {var}
        todo += [v for v in reached if v not in region.used]
        region.used |= reached


def _elements(var: Var) -> int:
    count = 1
    for one in var.shape:
        if one.kind == "number_literal":
            count *= int(one.text.rstrip("uUlL"), 0)
    return count
