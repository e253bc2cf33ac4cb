"""Which variables all threads of a block share, and so which control flow is theirs together."""

from evaluators.cpu.fission.exits import direct_exits, last_steps, separate_steps
from evaluators.cpu.fission.ir import (
    Barrier,
    Branch,
    Exit,
    Facts,
    Fixed,
    Item,
    Loop,
    Mode,
    Once,
    Scope,
    Step,
    Sweep,
    Switch,
    Var,
    contains_barrier,
)
from evaluators.cpu.fission.purity import Purity
from evaluators.cpu.fission.tree import unsupported

Masked = Branch | Loop | Once | None
Target = Loop | Once | Switch | None


class Uniformity:
    """Starts from "everything is uniform" and takes back what is not, until nothing changes."""

    def __init__(self, items: list[Item], variables: list[Var], purity: Purity) -> None:
        self.items = items
        self.purity = purity
        self.variables = variables
        self.live = False  # threads may leave the kernel before its end
        self.changed = True
        self.inner: dict[int, Masked] = {}

    def solve(self) -> None:
        for i, var in enumerate(self.variables):
            var.order = i
            var.uniform = var.is_fixed or not (
                var.is_array or var.is_reference or var.is_lambda or var.opaque or var.escapes
            )
        while self.changed:
            self.changed = False
            self._items(self.items, None, ())
        self.live = any(
            target is None and id(step) not in last
            for last in [last_steps(self.items)]
            for step in separate_steps(self.items)
            for _, target in step.exits
        )
        self._derive()
        self._sweeps(self.items)

    def _sweeps(self, items: list[Item]) -> None:
        """Decide which loops all threads may walk together."""
        for item in items:
            match item:
                case Sweep(index=index, test=test, body=body):
                    var = index.declares
                    if var is None or index.init is None or test is None or test.init is None:
                        continue
                    stride = self.purity.facts(item.stride)
                    fixed = not (test.init.vars | stride.vars) & body.writes
                    starts_apart = index.init.thread or any(not v.uniform for v in index.init.vars)
                    item.together = (
                        var.derived
                        and test.init.pure
                        and self.uniform(stride)
                        and fixed
                        and starts_apart
                    )
                case Scope(body=inner) | Loop(body=inner) | Once(body=inner):
                    self._sweeps(inner)
                case Branch(then=then, orelse=orelse):
                    self._sweeps(then)
                    self._sweeps(orelse)
                case Switch(cases=cases):
                    for _, inner in cases:
                        self._sweeps(inner)
                case _:
                    continue

    def uniform(self, facts: Facts | None) -> bool:
        return (
            facts is not None
            and facts.pure
            and not facts.thread
            and all(var.uniform for var in facts.vars)
        )

    def _items(self, items: list[Item], masked: Masked, inside: tuple[Loop, ...]) -> None:
        for item in items:
            self._item(item, masked, inside)

    def _item(self, item: Item, masked: Masked, inside: tuple[Loop, ...]) -> None:
        match item:
            case Step():
                self._step(item, masked, inside)
            case Scope():
                self._items(item.body, masked, inside)
            case Once():
                self._once(item, masked, inside)
            case Branch():
                self._branch(item, masked, inside)
            case Loop():
                self._loop(item, masked, inside)
            case Switch():
                self._switch(item, masked, inside)
            case Exit():
                if self.apart(item.target, masked) and item.step is not None:
                    self._leaves(item.step)
            case Sweep():
                self._step(item.whole, masked, inside)
                for step in (item.index, item.body, item.guarded):
                    self._step(step, masked, inside)
            case Fixed() | Barrier():
                pass

    def _step(self, step: Step, masked: Masked, inside: tuple[Loop, ...]) -> None:
        if step.declares is not None:
            step.declares.masked_by = masked
            step.declares.inside = inside
        var = step.target
        if var is not None and var.uniform and not var.is_fixed:
            has_value = step.init is not None
            if var.masked_by is not masked or (has_value and not self.uniform(step.init)):
                var.uniform = False
                self.changed = True
        self._leaves(step)

    def _leaves(self, step: Step) -> None:
        """Threads run this step one by one, so its exits switch off one by one."""
        for node, target in step.exits:
            if target is None:
                continue
            if isinstance(target, Switch):
                raise unsupported("a break from a switch that some threads take", node.line)
            if not target.apart:
                target.apart = self.changed = True

    def apart(self, target: Target, masked: Masked) -> bool:
        """Whether an exit to target, by all threads that are on, still leaves others behind."""
        if target is None:
            return masked is not None
        if isinstance(target, Loop | Once) and target.apart:
            return True
        return self.inner.get(id(target)) is not masked

    def _once(self, once: Once, masked: Masked, inside: tuple[Loop, ...]) -> None:
        for bind in once.binds:
            self._item(bind, masked, inside)
        if once.result is not None:
            self._step(once.result, masked, inside)
        inner: Masked = once if once.apart else masked
        self.inner[id(once)] = inner
        once.mode = "mask" if once.apart else "uniform"
        self._items(once.body, inner, inside)

    def _branch(self, branch: Branch, masked: Masked, inside: tuple[Loop, ...]) -> None:
        test = branch.test
        assert test is not None
        found = direct_exits((*branch.then, *branch.orelse))
        leaving = [exit.target for exit in found]
        mode: Mode = "uniform"
        if branch.constexpr:
            pass
        elif not self.uniform(test.init):
            held = contains_barrier(branch.then) or contains_barrier(branch.orelse)
            bound = any(isinstance(exit.target, Switch) for exit in found)
            mode = "agree" if held or (bound and masked is None) else "mask"
        if any(self.apart(target, masked) for target in leaving):
            mode = "mask"
        if mode == "mask" and not branch.collective:
            branch.mode = mode
            self._step(branch.whole, masked, inside)
            return
        self._set(branch, mode)
        inner = branch if mode == "mask" else masked
        self._items(branch.then, inner, inside)
        self._items(branch.orelse, inner, inside)

    def _set(self, item: Branch | Loop | Switch, mode: Mode) -> None:
        if item.mode != mode:
            item.mode = mode
            self.changed = True

    def _loop(self, loop: Loop, masked: Masked, inside: tuple[Loop, ...]) -> None:
        sure = loop.cond is None or (loop.test is not None and self.uniform(loop.test.init))
        if loop.apart:
            mode: Mode = "mask"
        elif sure:
            mode = "uniform"
        else:
            mode = "agree" if contains_barrier([loop]) else "mask"
            loop.apart = mode == "mask"
        self._set(loop, mode)
        inner: Masked = loop if mode == "mask" else masked
        self.inner[id(loop)] = inner
        self._items(loop.pre, inner, (*inside, loop))
        self._items(loop.body, inner, (*inside, loop))
        self._items(loop.update, inner, (*inside, loop))

    def _switch(self, switch: Switch, masked: Masked, inside: tuple[Loop, ...]) -> None:
        assert switch.test is not None
        if not self.uniform(switch.test.init):
            if masked is not None or not contains_barrier([switch]):
                raise unsupported(
                    "wavefront operations in a switch that threads may take apart", switch.line
                )
            self._set(switch, "agree")
        self.inner[id(switch)] = masked
        for _, body in switch.cases:
            self._items(body, masked, inside)

    def _derive(self) -> None:
        """Mark what can be recomputed wherever it is used; in order, since one may need others."""
        for var in self.variables:
            decl = var.decl
            if var.uniform or decl is None or decl.init is None or var.is_array:
                continue
            if var.escapes or var.opaque or len(var.assigns) != 1:
                continue
            if var.is_lambda:
                value = decl.node.need("declarator").need("value")
                captures = str(value.need("captures")).replace(" ", "")
                var.derived = captures in ("[&]", "[]") or (
                    not decl.writes - {var} and all(self._fit(one, var) for one in decl.reads)
                )
            else:
                var.derived = decl.init.pure and all(
                    v is var.refers or self._fit(v, var) for v in decl.init.vars
                )

    def _fit(self, source: Var, var: Var) -> bool:
        """Whether source still has its value wherever var is recomputed."""
        if source.is_fixed or source.derived:
            return True
        later = [step for step, _ in source.assigns if step is not source.decl]
        return source.uniform and all(
            step.update_of is not None and step.update_of in var.inside for step in later
        )
