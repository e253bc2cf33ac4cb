"""Cuts a kernel into regions: its control flow at block level, with masks where threads part."""

from evaluators.cpu.fission.ir import (
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
)
from evaluators.cpu.fission.operations import Op, Operations
from evaluators.cpu.fission.uniformity import Target


class Regions(Operations):
    """Walks a kernel's items and writes the operations down."""

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
                    if item.block and self.masks and self.masks[-1][1] is not None:
                        self.together(item.line)
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

    def together(self, line: int) -> None:
        """At a barrier in a loop or function that threads leave one by one: all are still in it."""
        live = "ks_live" if self.uniformity.live else "(const unsigned char *)0"
        self.line(f"if (!ks_together<KS_THREADS>({self.mask}, {live})) return {line};")

    def sweep(self, sweep: Sweep) -> None:
        """One region a pass; without the condition where it holds for all threads.

        Blocks of few threads keep their loops: a pass would cost more than it gains.
        """
        assert sweep.test is not None and sweep.index.declares is not None
        if not sweep.together:
            self.step(sweep.whole)
            return
        where = f"the loop at line {sweep.whole.line}, which threads walk side by side"
        self.flush(where)
        self.line("if constexpr (KS_SIDE_BY_SIDE) {")
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
        self.line("} else {")
        self.step(sweep.whole)
        self.flush(where)
        self.line("}")

    def nest(self, items: list[Item], why: str = "the end of a scope") -> None:
        self.line("{")
        self.items(items)
        self.flush(why)
        self.line("}")

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
                self.masks.append((mask, branch))
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
        self.masks.append((on, loop))
        self.line("for (;;) {")
        if not loop.test_last:
            self.masked_check(loop, on, where)
        self.nest(loop.body, f"the end of {where}")
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
        if once.mode != "mask":
            self.nest(once.body, f"the end of {once.where}")
            if once.label in self.labels:
                self.line(f"{once.label} :;")
            return
        on = self.fresh("on")
        self.start_mask(on, once.line)
        self.flush(once.where)
        before, self.masked = self.masked, once
        self.masks.append((on, once))
        self.nest(once.body, f"the end of {once.where}")
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
            assert isinstance(target, Once)
            self.labels.add(target.label)
            self.line(f"goto {target.label};")
