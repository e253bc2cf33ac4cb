"""Outputs a thread: each computes several, with the loops over them innermost ("unroll and jam").

Threads without barriers may run in any order, so several of them may take turns in one, statement
by statement. Loops that all of them go through together are then shared: what they read together
is read once, and neighbouring outputs become a vector.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from evaluators.tasks.task import Task
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.front import Front
from operators.catalog.generic.indices import AXES, OWN, Index, alone, below, index_of
from operators.catalog.generic.locals import LOOPS, Local, Locals, leaves_loop, statements
from operators.catalog.generic.reading import (
    Function,
    Node,
    Reading,
    Unsure,
    declared_name,
    inside,
    names_in,
    walk,
)

VALUES = (1, 2, 4, 8, 16, 32)
_TOGETHER = (
    "__sync",
    "__shfl",
    "__shared",
    "__ball",
    "__any",
    "__all",
    "cooperative",
    "cg",
    "__act",
)
_TOGETHER_WORDS = re.compile(
    rf"\b(?:{'|'.join(_TOGETHER)})\w*|\bWAVEFRONT\b|\bextern\b|__builtin_amd"
)
_REFUSED = ("lambda_expression", "goto_statement", "for_range_loop", "try_statement", "co_await")


def outputs_a_thread(reading: Reading, task: Task) -> Iterator[Edit]:
    """Neighbouring outputs: each thread computes a run of them."""
    yield from _edits(reading, apart=False)


def outputs_apart(reading: Reading, task: Task) -> Iterator[Edit]:
    """Outputs a block's width apart, so that neighbouring threads stay at neighbouring ones."""
    yield from _edits(reading, apart=True)


def _edits(reading: Reading, *, apart: bool) -> Iterator[Edit]:
    for function in reading.kernels:
        for place in _places(reading, function):
            if apart and not place.threads:
                continue
            for count in (4,) if apart else (2, 4, 16):
                try:
                    text = _Jam(reading, function, place, count, apart).text()
                except Unsure:
                    break
                place_of = {
                    "kernel": function.name,
                    "index": place.local.name,
                    "count": count,
                }
                yield Edit(place=place_of, text=text)


def _places(reading: Reading, function: Function) -> list[Index]:
    try:
        if not independent(reading, function):
            return []
        locals = Locals(reading, function)
        found = []
        for node in statements(function.body):
            if node.type == "declaration":
                for local in locals.of(node):
                    index = index_of(reading, local, reading.launched[function.name])
                    if index is not None and alone(reading, locals, index):
                        found.append(index)
    except Unsure:
        return []
    return found


def independent(reading: Reading, function: Function) -> bool:
    """Whether threads of it neither wait for each other nor share LDS, and it is plain enough."""
    seen: set[str] = set()
    left = [function]
    while left:
        one = left.pop()
        if one.name in seen:
            continue
        seen.add(one.name)
        if _TOGETHER_WORDS.search(reading.text(one.node)) or one.node.has_error:
            return False
        for word in names_in(one.node):
            if word in reading.functions:
                left.append(reading.functions[word])
    return reading.plain(function) and not inside(function.body, *_REFUSED)


@dataclass(slots=True)
class _Names:
    own: str  # counts the thread's own outputs
    first: str  # the first of them
    count: str  # how many, a parameter


@dataclass(slots=True)
class _Jam:
    reading: Reading
    function: Function
    index: Index
    count: int
    apart: bool
    locals: Locals = field(init=False)
    names: _Names = field(init=False)
    limit: str = field(init=False, default="")
    region: list[Node] = field(init=False)
    bounds: dict[int, list[Node]] = field(init=False)
    varying: set[str] = field(init=False)
    formulas: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.locals = Locals(self.reading, self.function)
        free = self.reading.free_name
        axis = AXES[self.index.axis].upper()
        self.names = _Names(free("own"), free("first"), free(f"PER_{axis}"))
        key = self.index.local.key
        if self.locals.changes(key) or "@" in key:
            raise Unsure
        body = statements(self.function.body)
        at = next(i for i, one in enumerate(body) if one.id == self.index.local.statement.id)
        self.region = body[at + 1 :]
        self.bounds = self._bounds()
        self.varying = self.locals.varying({key}, self.bounds.keys())
        width = f" * {self.index.width}" if self.apart else ""
        self.formulas = {key: f"({self.names.first} + {self.names.own}{width})"}
        for other in sorted(self.varying - {key}, key=self._position):
            value = self.locals.formula(other)
            if value is not None:
                text = self.locals.with_names(value, self.formulas)
                self.formulas[other] = f"({self._cast(other)}({text}))"

    def _bounds(self) -> dict[int, list[Node]]:
        """Of each if whose condition keeps the index below what does not change meanwhile: its
        parts that do so. They hold for all of a thread's outputs where they do for the last."""
        found: dict[int, list[Node]] = {}
        for statement in self.region:
            for node in walk(statement):
                if node.type != "if_statement":
                    continue
                leaves = returns(node)
                parts = below(condition_of(node), self.index.local.name, negated=leaves)
                if parts and all(self._is_fixed(one) for one in parts):
                    found[node.id] = parts
        return found

    def _is_fixed(self, bound: Node) -> bool:
        """Whether what the index is compared with is the same all along."""
        start = self.index.local.statement.end_byte
        for key in self.locals.names(bound) - {self.index.local.key}:
            local = self.locals.declared.get(key)
            late = local is not None and local.statement.start_byte >= start
            if late or any(one.end_byte > start for one in self.locals.changes(key)):
                return False
        return True

    def _cast(self, key: str) -> str:
        """To the type that a variable's declaration converts to."""
        local = self.locals.declared[key]
        kind = re.sub(r"\b(?:const|constexpr)\b\s*", "", self._type(local.statement)).strip()
        if local.form == "pointer_declarator" or kind == "auto":
            return ""
        if local.value is not None and {"int"} >= {kind} and "size_t" not in str(local.value.text):
            return ""
        return f"({kind})"

    def _position(self, key: str) -> int:
        found = self.locals.declared.get(key)
        return found.statement.start_byte if found else 0

    def text(self) -> str:
        """The whole file. Raises Unsure."""
        reading, names = self.reading, self.names
        front = Front(reading.kernel)
        front.add(names.count, self.count, VALUES)
        launches = front.of(self.function.name)
        if any("cooperative" in one or "repeat" in one for one in launches):
            raise Unsure
        front.change(
            self.function.name,
            "grid",
            self.index.axis,
            lambda grid: f"ceil_div({grid}, {names.count})",
        )
        statement = self.index.local.statement
        edits = []
        if not self.bounds:
            edits.append(self._limited(front))
        new = self._declaration() + self._rest()
        end = self.function.body.end_byte - 1
        edits.append((statement.start_byte, end, new + "\n"))
        return front.written(reading.rewritten(self.function, edits))

    def _declaration(self) -> str:
        """That of the index becomes that of the first output's; others beside it stay."""
        statement, local = self.index.local.statement, self.index.local
        kind = self._type(statement)
        lines = []
        for one in self.locals.of(statement):
            text = self.reading.text(one.declarator)
            value = self.reading.text(one.value) if one.value is not None else None
            if one.name == local.name:
                text, value = self.names.first, self._first(value or "")
            elif one.key in self.varying:
                raise Unsure
            lines.append(f"{kind} {text}{'' if value is None else f' = {value}'};")
        return "\n    ".join(lines) + "\n"

    def _first(self, value: str) -> str:
        if not self.apart:
            return f"({value}) * {self.names.count}"
        axis = AXES[self.index.axis]
        width = self.index.width
        return f"blockIdx.{axis} * ({width} * {self.names.count}) + threadIdx.{axis}"

    def _rest(self) -> str:
        """What follows the index: all outputs together where all are within bounds, else each by
        itself."""
        region = list(self.region)
        shared: list[Node] = []
        while region and not self._varies(region[0]) and region[0].type != "if_statement":
            shared.append(region.pop(0))
        tests = {
            f"!({text})" if negated else text: None
            for text, negated in (
                (self._of_last(one), _returns_at(self.region, key))
                for key, parts in self.bounds.items()
                for one in parts
            )
        }
        if not self.bounds:
            tests = {f"{self._of_last(self._index_name())} < {self.limit}": None}
        return "".join(
            [
                *(f"{self.reading.text(one)}\n" for one in shared),
                f"if ({' && '.join(tests)}) {{\n",
                self._together(region),
                "} else {\n",
                self._each(region),
                "}\n",
            ]
        )

    def _index_name(self) -> Node:
        """The index, where it is declared."""
        name = declared_name(self.index.local.declarator)
        if name is None:
            raise Unsure
        return name

    def _limited(self, front: Front) -> tuple[int, int, str]:
        """The grid itself is the bound: it is handed in, as a further parameter."""
        if self.index.threads:
            raise Unsure
        self.limit = self.reading.free_name("outputs")
        axis = self.index.axis
        for launch in front.of(self.function.name):
            grid = launch["grid"] if isinstance(launch["grid"], list) else [launch["grid"]]
            size = str(grid[axis]) if axis < len(grid) else "1"
            launch["args"] = [*launch["args"], {"value": self._before(size), "type": "int32"}]
        last = self.function.parameters[-1:]
        if not last or last[0].node.parent.type != "parameter_declaration":
            raise Unsure
        end = last[0].node.parent.end_byte
        listed = last[0].node.parent.parent
        if listed.type != "parameter_list" or listed.named_children[-1].end_byte != end:
            raise Unsure
        return end, end, f", int {self.limit}"

    def _before(self, grid: str) -> str:
        """The grid as it was, before it was divided among threads with several outputs."""
        start, end = "ceil_div(", f", {self.names.count})"
        return (
            grid[len(start) : -len(end)] if grid.startswith(start) and grid.endswith(end) else grid
        )

    def _of_last(self, node: Node) -> str:
        """Text, for the last output."""
        step = f"{self.names.count} - 1"
        if self.apart:
            step = f"({step}) * {self.index.width}"
        return self.locals.with_names(
            node, {self.index.local.key: f"({self.names.first} + {step})"}
        )

    def _each(self, region: list[Node]) -> str:
        """The statements as they were, for one output after another."""
        local, own, count = self.index.local, self.names.own, self.names.count
        kind = self._type(local.statement)
        width = f" * {self.index.width}" if self.apart else ""
        lines = [
            f"for (int {own} = 0; {own} < {count}; ++{own}) {{",
            f"{kind} {local.name} = {self.names.first} + {own}{width};",
            *([] if self.bounds else [f"if ({local.name} >= {self.limit}) break;"]),
            *map(self._continued, region),
            "}\n",
        ]
        return "\n".join(lines)

    def _continued(self, statement: Node) -> str:
        """A statement that goes on to the next output where it returned."""
        edits = []
        for node in walk(statement):
            if node.type != "return_statement":
                continue
            above = node.parent
            while above.id != self.function.body.id:
                if above.type in (*LOOPS, "switch_statement"):
                    raise Unsure
                above = above.parent
            edits.append((node.start_byte, node.end_byte, "continue;"))
        return self.reading.replaced(statement.start_byte, statement.end_byte, edits)

    # --- all outputs together -----------------------------------------------------------------

    def _together(self, body: list[Node]) -> str:
        """Statements, each for all outputs before the next one."""
        parts: list[str] = []
        waiting: list[Node] = []
        for node in body:
            if self._is_own(node):
                waiting.append(node)
                continue
            parts.append(self._flushed(waiting))
            waiting = []
            parts.append(self._shared(node))
        parts.append(self._flushed(waiting))
        return "".join(parts)

    def _varies(self, node: Node) -> bool:
        if self.locals.depends(node, self.varying):
            return True
        if node.type == "declaration":
            return any(one.key in self.varying for one in self.locals.of(node))
        return False

    def _is_formula(self, node: Node) -> bool:
        """Whether a declaration's names are written as what they stand for."""
        return node.type == "declaration" and all(
            one.key in self.formulas or one.key not in self.varying for one in self.locals.of(node)
        )

    def _is_own(self, node: Node) -> bool:
        """Whether a statement is done for each output by itself, whatever it holds."""
        if not self._varies(node):
            return False
        if node.type == "compound_statement":
            return False
        if node.type == "if_statement":
            return node.id not in self.bounds and self._varies(condition_of(node))
        if node.type in ("for_statement", "while_statement"):
            head = [node.child_by_field_name(one) for one in ("initializer", "condition", "update")]
            body = node.child_by_field_name("body")
            counters = {
                one.key
                for kid in head
                if kid is not None and kid.type == "declaration"
                for one in self.locals.of(kid)
            }
            return (
                any(one is not None and self._varies(one) for one in head)
                or self._counts_own(node)
                or bool(counters & self.varying)
                or leaves_loop(body)
            )
        return True

    def _counts_own(self, loop: Node) -> bool:
        """Whether it is such a loop over outputs itself."""
        head = loop.child_by_field_name("initializer")
        return head is not None and any(OWN.fullmatch(one.name) for one in self.locals.of(head))

    def _shared(self, node: Node) -> str:
        """A statement that all outputs go through together."""
        if not self._varies(node):
            return f"{self.reading.text(node)}\n"
        if node.type == "compound_statement":
            return f"        {{\n{self._together(statements(node))}        }}\n"
        if node.type == "if_statement":
            text = f"if ({self._of_last(condition_of(node))}) {{\n"
            text += self._together(statements(node.child_by_field_name("consequence")))
            other = node.child_by_field_name("alternative")
            if other is None:
                return text + "        }\n"
            body = [one for one in other.named_children if one.type != "comment"][-1]
            return text + "        } else {\n" + self._together(statements(body)) + "        }\n"
        body = node.child_by_field_name("body")
        head = self.reading.data[node.start_byte : body.start_byte].decode()
        return f"        {head.rstrip()} {{\n{self._together(statements(body))}        }}\n"

    def _flushed(self, group: list[Node]) -> str:
        """One loop over the outputs for statements that follow each other."""
        group = [one for one in group if not self._is_formula(one)]
        if not group:
            return ""
        if any(inside(one, "return_statement") for one in group):
            raise Unsure
        start, end = group[0].start_byte, group[-1].end_byte
        names = {**self.formulas}
        before: list[str] = []
        kept: set[str] = set()
        for name in self.varying - self.formulas.keys():
            if name in self.locals.parameters:
                raise Unsure  # it is changed from output to output
            if not self.locals.used_within(name, start, end):
                names[name] = f"{name.partition('@')[0]}[{self.names.own}]"
                kept.add(name)
        lines = []
        for node in group:
            if node.type == "declaration":
                lines.append(self._declared(node, kept, names, before))
            else:
                if node.type == "for_statement" and self._counts_own(node):
                    lines.append("#pragma unroll")
                lines.append(self.locals.with_names(node, names))
        own, count = self.names.own, self.names.count
        return "".join(
            [
                *before,
                "#pragma unroll\n",
                f"        for (int {own} = 0; {own} < {count}; ++{own}) {{\n",
                *(f"            {one}\n" for one in lines if one),
                "        }\n",
            ]
        )

    def _declared(
        self, node: Node, kept: set[str], names: dict[str, str], before: list[str]
    ) -> str:
        """A declaration inside of the loop; variables that outlive it become arrays before it."""
        kind = self._type(node)
        lines = []
        for one in self.locals.of(node):
            if one.form == "reference" or node.text.lstrip().startswith(b"static"):
                raise Unsure
            value = None if one.value is None else self.locals.with_names(one.value, names)
            if one.key in self.formulas:
                continue
            if one.key not in kept:
                text = self.locals.with_names(
                    one.declarator, {k: v for k, v in names.items() if k != one.key}
                )
                brace = value is not None and value.startswith("{")
                initial = "" if value is None else (f" {value}" if brace else f" = {value}")
                lines.append(f"{kind} {text}{initial};")
                continue
            if kind == "auto" or (one.value is not None and one.value.type == "argument_list"):
                raise Unsure
            before.append(self._array(one, kind))
            if value is None:
                continue
            if one.form == "array_declarator" or value.startswith("{"):
                raise Unsure
            lines.append(f"{names[one.key]} = {value};")
        return " ".join(lines)

    def _array(self, one: Local, kind: str) -> str:
        """Of one variable for each output."""
        text = self.reading.text(one.declarator)
        text = re.sub(rf"\b{one.name}\b", f"{one.name}[{self.names.count}]", text, count=1)
        if one.form == "pointer_declarator":
            text = re.sub(r"\*\s*const\b", "*", text)
        else:
            kind = re.sub(r"\bconst\b\s*", "", kind)
        return f"        {kind} {text};\n"

    def _type(self, statement: Node) -> str:
        """What a declaration begins with, before its first declarator."""
        first = statement.child_by_field_name("declarator")
        return " ".join(self.reading.data[statement.start_byte : first.start_byte].decode().split())


def condition_of(if_statement: Node) -> Node:
    clause = if_statement.child_by_field_name("condition")
    return clause.child_by_field_name("value") or clause


def returns(node: Node) -> bool:
    """if (...) return; without an else."""
    if node.type != "if_statement" or node.child_by_field_name("alternative") is not None:
        return False
    inner = statements(node.child_by_field_name("consequence"))
    return len(inner) == 1 and inner[0].type == "return_statement"


def _returns_at(region: list[Node], key: int) -> bool:
    return any(one.id == key and returns(one) for kid in region for one in walk(kid))
