"""What one block does, in order: regions of steps for each thread, and block-level lines."""

from dataclasses import dataclass, field

from evaluators.cpu.fission.ir import Step, Var
from evaluators.cpu.fission.tree import Node, group
from evaluators.cpu.fission.uniformity import Masked, Target, Uniformity


@dataclass(slots=True, eq=False)
class Region:
    """Steps that each thread runs without waiting for another. mask: who runs them, if not all."""

    steps: list[Step]
    mask: str | None
    why: str  # it ends here
    label: str | None
    used: set[Var] = field(default_factory=set)
    written: set[Var] = field(default_factory=set)
    generated: bool = False  # it holds no statement of the kernel's, but conditions and masks
    number: int = 0  # among all of a file

    @property
    def declared(self) -> set[Var]:
        return {step.declares for step in self.steps if step.declares is not None}


@dataclass(slots=True)
class Line:
    """Block-level text: control flow, uniform variables, checks."""

    parts: tuple[Node | str, ...]

    @property
    def opens_loop(self) -> bool:
        return isinstance(self.parts[0], str) and self.parts[0].startswith("for (")


@dataclass(slots=True)
class Declare:
    """The place where a variable of each thread is declared."""

    var: Var


Op = Region | Line | Declare


class Operations:
    """The flat list, as it grows."""

    def __init__(self, uniformity: Uniformity) -> None:
        self.uniformity = uniformity
        self.ops: list[Op] = []
        self.pending: list[Step] = []
        self.masks: list[tuple[str, object]] = []  # name, whose
        self.masked: Masked = None
        self.serial = 0
        self.labels: set[str] = set()
        self.label: str | None = None  # where threads go that leave the region being built
        if uniformity.live:
            self.line("unsigned char ks_live[KS_LANES];")
            self.line("__builtin_memset(ks_live, 1, sizeof ks_live);")
            self.masks.append(("ks_live", None))

    @property
    def mask(self) -> str | None:
        return self.masks[-1][0] if self.masks else None

    def fresh(self, stem: str) -> str:
        self.serial += 1
        return f"ks_{stem}{self.serial}"

    def line(self, *parts: Node | str) -> None:
        self.ops.append(Line(parts))

    def flush(self, why: str) -> None:
        if self.pending:
            region = Region(self.pending, self.mask, why, self.label)
            region.generated = all(step.generated for step in self.pending)
            self.ops.append(region)
            self.label = None
            leaves = any(target is None for step in self.pending for _, target in step.exits)
            self.pending = []
            if leaves and self.uniformity.live:
                self.line("if (!ks_some(ks_live)) return 0;")

    def step(self, step: Step) -> None:
        var = step.declares or step.target
        if step.declares is not None and not step.declares.uniform:
            self.ops.append(Declare(step.declares))
        if var is not None and var.uniform and not var.is_fixed:
            if step.declares is None and self.pending:
                self.flush(f"the change of {var.name} for all threads at line {step.line}")
            self.line(step.node)
        else:
            if step.puts is not None:
                self.after_exits()
            for node, target in step.exits:
                self.leave(node, target)
            self.pending.append(step)

    def after_exits(self) -> None:
        """What threads show must be told also for those that have just left."""
        if self.label is not None:
            self.flush("the exit of some threads")

    def leave(self, node: Node, target: Target) -> None:
        """Turn an exit of one thread into switching its masks off."""
        if self.label is None:
            self.label = self.fresh("off")
        parts: list[Node | str] = [k for k in node.kids if k.kind == "assignment_expression"]
        if parts:
            parts.append(";")
        for mask, owner in reversed(self.masks):
            parts.append(f"{mask} [ ks_t ] = 0 ;")
            if target is not None and owner is target:
                break
        node.become(group("left", node.line, "{", *parts, f"goto {self.label} ; }}"))

    def generated(
        self,
        *parts: Node | str,
        like: Step | None,
        line: int,
        clears: tuple[str, ...] = (),
        sums: tuple[str, ...] = (),
    ) -> None:
        """Append a step of our own, which reads what like reads."""
        self.after_exits()
        step = Step(group("expression_statement", line, *parts), clears=clears, sums=sums)
        step.generated = True
        if like is not None:
            step.reads, step.writes, step.atomic = like.reads, like.writes, like.atomic
        self.pending.append(step)

    def agreed(self, test: Step, line: int, why: str) -> str:
        """Evaluate a condition for all threads; the name of the count of those that say yes."""
        yes = self.fresh("yes")
        self.line(f"int {yes} = 0;")
        count = "KS_THREADS"
        sums = [yes]
        extra = ""
        if self.mask is not None:
            count = self.fresh("all")
            self.line(f"int {count} = 0;")
            sums.append(count)
            extra = f"{count} += 1;"
        self.generated(
            f"{extra} {yes} += bool (", test.node, ") ;", like=test, line=line, sums=tuple(sums)
        )
        self.flush(why)
        self.line(f"if ({yes} != 0 && {yes} != {count}) return {line};")
        return yes
