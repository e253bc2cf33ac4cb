"""Cuts a kernel into regions: loops over the threads of a block, between block-level lines."""

from dataclasses import dataclass, field

from evaluators.fission.ir import (
    Barrier,
    Branch,
    Exit,
    Fixed,
    Item,
    Loop,
    Once,
    Scope,
    Step,
    Sweep,
    Switch,
    Var,
)
from evaluators.fission.tree import Node, group
from evaluators.fission.uniformity import Masked, Target, Uniformity


@dataclass(slots=True, eq=False)
class Region:
    """Steps that each thread runs without waiting for another. mask: who runs them, if not all."""

    steps: list[Step]
    mask: str | None
    why: str  # it ends here
    label: str | None
    used: set[Var] = field(default_factory=set)
    written: set[Var] = field(default_factory=set)

    @property
    def declared(self) -> set[Var]:
        return {step.declares for step in self.steps if step.declares is not None}


@dataclass(slots=True)
class Line:
    """Block-level text: control flow, uniform variables, checks."""

    parts: tuple[Node | str, ...]


@dataclass(slots=True)
class Declare:
    """The place where a variable of each thread is declared."""

    var: Var


Op = Region | Line | Declare


class Regions:
    """Builds the flat list of operations of one block."""

    def __init__(self, uniformity: Uniformity) -> None:
        self.uniformity = uniformity
        self.ops: list[Op] = []
        self.pending: list[Step] = []
        self.masks: list[tuple[str, object, str]] = []  # name, whose, which exits it takes
        self.masked: Masked = None
        self.serial = 0
        self.labels: set[str] = set()
        self.label: str | None = None  # where threads go that leave the region being built
        if uniformity.live:
            self.line("unsigned char ks_live[KS_LANES];")
            self.line("__builtin_memset(ks_live, 1, sizeof ks_live);")
            self.masks.append(("ks_live", None, "return"))

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
            self.ops.append(Region(self.pending, self.mask, why, self.label))
            self.label = None
            leaves = any(target is None for step in self.pending for _, target in step.exits)
            self.pending = []
            if leaves and self.uniformity.live:
                self.line("if (!ks_some(ks_live)) return 0;")

    def build(self, items: list[Item]) -> list[Op]:
        self.items(items)
        self.flush("the end")
        return self.ops

    def items(self, items: list[Item]) -> None:
        for item in items:
            match item:
                case Step():
                    self.step(item)
                case Fixed():
                    self.line(item.node)
                case Barrier():
                    self.flush(
                        f"the barrier at line {item.line}"
                        if item.block
                        else f"the wavefront operation at line {item.line}"
                    )
                    for text in item.after:
                        self.line(text)
                case Scope():
                    self.nest(item.body)
                case Once():
                    self.once(item)
                case Branch():
                    self.branch(item)
                case Loop():
                    self.loop(item)
                case Switch():
                    self.switch(item)
                case Sweep():
                    self.sweep(item)
                case Exit():
                    self.exit(item)

    def sweep(self, sweep: Sweep) -> None:
        """One region a pass; without the condition where it holds for all threads."""
        assert sweep.test is not None and sweep.index.declares is not None
        if not sweep.together:
            self.step(sweep.whole)
            return
        where = f"the loop at line {sweep.whole.line}, which threads walk side by side"
        self.flush(where)
        index = sweep.index.declares
        yes = self.fresh("yes")
        self.line(
            f"for (KsBare<{index.type_id()}> {sweep.passed} = 0;; {sweep.passed} += ",
            sweep.stride,
            f") {{ int {yes} = 0;",
        )
        self.generated(
            f"{yes} += bool (",
            sweep.cond,
            ") ;",
            like=sweep.test,
            line=sweep.whole.line,
            sums=(yes,),
        )
        self.flush(where)
        self.line(f"if (!{yes}) break;")
        self.line(f"if ({yes} == KS_THREADS) {{")
        self.step(sweep.body)
        self.flush(where)
        self.line("} else {")
        self.step(sweep.guarded)
        self.flush(where)
        self.line("}")
        self.line("}")

    def nest(self, items: list[Item], why: str = "the end of a scope") -> None:
        self.line("{")
        self.items(items)
        self.flush(why)
        self.line("}")

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
        kind = node.kind.split("_")[0]
        if self.label is None:
            self.label = self.fresh("off")
        parts: list[Node | str] = [k for k in node.kids if k.kind == "assignment_expression"]
        if parts:
            parts.append(";")
        for mask, owner, exits in reversed(self.masks):
            parts.append(f"{mask} [ ks_t ] = 0 ;")
            if target is not None and owner is target and exits in (kind, "return"):
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

    def branch(self, branch: Branch) -> None:
        test = branch.test
        assert test is not None
        if branch.mode == "mask" and not branch.collective:
            self.step(branch.whole)
            return
        where = f"at line {branch.line}"
        if branch.mode == "mask":
            self.masked_branch(branch, test)
            return
        if branch.mode == "agree":
            yes = self.agreed(test, branch.line, f"the if {where}, on which all threads must agree")
            self.line(f"if ({yes}) {{")
        else:
            self.flush(f"the if {where}, the same for all threads")
            self.line("if constexpr (" if branch.constexpr else "if (", branch.cond, ") {")
        self.items(branch.then)
        self.flush(f"the end of the if {where}")
        if branch.orelse:
            self.line("} else {")
            self.items(branch.orelse)
            self.flush(f"the end of the else {where}")
        self.line("}")

    def masked_branch(self, branch: Branch, test: Step) -> None:
        on, off = self.fresh("on"), self.fresh("off")
        where = f"at line {branch.line}"
        self.line(
            f"unsigned char {on}[KS_LANES], {off}[KS_LANES]; "
            f"ks_clear_tail({on}); ks_clear_tail({off});"
        )
        self.generated(
            f"{on} [ ks_t ] = bool (",
            test.node,
            f") ; {off} [ ks_t ] = ! {on} [ ks_t ] ;",
            like=test,
            line=branch.line,
            clears=(on, off),
        )
        self.flush(f"the if {where}, which holds for some threads")
        before = self.masked
        self.masked = branch
        for mask, items in ((on, branch.then), (off, branch.orelse)):
            if items:
                self.line(f"if (ks_some({mask})) {{")
                self.masks.append((mask, branch, ""))
                self.items(items)
                self.flush(f"the end of the if {where}")
                self.masks.pop()
                self.line("}")
        self.masked = before

    def loop(self, loop: Loop) -> None:
        where = f"the loop at line {loop.line}"
        if loop.mode == "mask":
            self.masked_loop(loop, where)
            return
        plain = loop.mode == "uniform" and not loop.pre and not loop.test_last
        self.flush(f"{where}, which holds a barrier or wavefront operation")
        if plain and loop.cond is not None:
            self.line("for (; (", loop.cond, ") ;) {")
        else:
            self.line("for (;;) {")
        if not plain and not loop.test_last:
            self.check(loop, where)
        self.nest(loop.body, f"the end of {where}")
        if loop.has_continue:
            self.line(f"{loop.label} :;")
        self.items(loop.update)
        self.flush(f"the end of {where}")
        if loop.test_last:
            self.check(loop, where)
        self.line("}")

    def check(self, loop: Loop, where: str) -> None:
        """Leave the loop when its condition, the same for all threads, is false."""
        self.items(loop.pre)
        if loop.cond is None or loop.test is None:
            return
        if loop.mode == "uniform":
            self.flush(f"the condition of {where}")
            self.line("if (!(", loop.cond, ")) break;")
        else:
            yes = self.agreed(loop.test, loop.line, f"{where}, on which all threads must agree")
            self.line(f"if (!{yes}) break;")

    def masked_loop(self, loop: Loop, where: str) -> None:
        on = self.fresh("on")
        before = self.masked
        self.start_mask(on, loop.line)
        self.flush(f"{where}, in which threads go their own ways")
        self.masked = loop
        self.masks.append((on, loop, "break"))
        self.line("for (;;) {")
        if not loop.test_last:
            self.masked_check(loop, on, where)
        inner = self.fresh("now") if loop.has_continue else None
        if inner is not None:
            self.start_mask(inner, loop.line)
            self.flush(where)
            self.masks.append((inner, loop, "continue"))
        self.nest(loop.body, f"the end of {where}")
        if inner is not None:
            self.masks.pop()
        self.items(loop.update)
        self.flush(f"the end of {where}")
        if loop.test_last:
            self.masked_check(loop, on, where)
        self.line("}")
        self.masks.pop()
        self.masked = before

    def start_mask(self, mask: str, line: int) -> None:
        self.line(f"unsigned char {mask}[KS_LANES]; ks_clear_tail({mask});")
        self.generated(f"{mask} [ ks_t ] = 1 ;", like=None, line=line, clears=(mask,))

    def masked_check(self, loop: Loop, on: str, where: str) -> None:
        self.items(loop.pre)
        if loop.test is not None:
            self.generated(
                f"{on} [ ks_t ] = bool (", loop.test.node, ") ;", like=loop.test, line=loop.line
            )
        self.flush(f"the condition of {where}")
        self.line(f"if (!ks_some({on})) break;")

    def once(self, once: Once) -> None:
        for bind in once.binds:
            self.items([bind])
        if once.result is not None:
            self.step(once.result)
        where = f"the function put in place at line {once.line}"
        if once.mode != "mask":
            self.flush(where)
            self.nest(once.body, f"the end of {where}")
            if once.label in self.labels:
                self.line(f"{once.label} :;")
            return
        on = self.fresh("on")
        self.start_mask(on, once.line)
        self.flush(where)
        before, self.masked = self.masked, once
        self.masks.append((on, once, "return"))
        self.nest(once.body, f"the end of {where}")
        self.masks.pop()
        self.masked = before

    def switch(self, switch: Switch) -> None:
        assert switch.test is not None
        where = f"the switch at line {switch.line}"
        if switch.mode == "uniform":
            self.flush(f"{where}, the same for all threads")
            self.line("switch (", switch.cond, ") {")
        else:
            values = self.fresh("case")
            self.line(f"long long {values}[KS_THREADS];")
            self.generated(
                f"{values} [ ks_t ] = ( long long ) (",
                switch.test.node,
                ") ;",
                like=switch.test,
                line=switch.line,
            )
            self.flush(f"{where}, on which all threads must agree")
            mask = self.mask or "(const unsigned char *)0"
            self.line(f"if (!ks_same<KS_THREADS>({values}, {mask})) return {switch.line};")
            self.line(f"switch (ks_first<KS_THREADS>({values}, {mask})) {{")
        for value, body in switch.cases:
            self.line(*(("case", value) if value is not None else ("default",)), ":")
            if body:
                self.nest(body, f"the end of a case of {where}")
        self.line("}")

    def exit(self, exit: Exit) -> None:
        target: Target = exit.target
        if self.uniformity.apart(target, self.masked):
            assert exit.step is not None
            self.step(exit.step)
            return
        self.flush(f"the {exit.kind} at line {exit.node.line}")
        if exit.kind == "return" and target is None:
            self.line("return 0;")
        elif exit.kind == "break":
            self.line("break;")
        else:
            assert isinstance(target, Loop | Once)
            self.labels.add(target.label)
            self.line(f"goto {target.label};")
