"""Local variables of a function: where they are declared and changed, and what depends on what."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

from operators.catalog.generic.analysis.reading import (
    Function,
    Node,
    Reading,
    Unsure,
    bare,
    declared_name,
    inside,
    variables,
    walk,
)

CONTROLS = frozenset(
    {"if_statement", "for_statement", "while_statement", "do_statement", "switch_statement"}
)
LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
_PLAIN = frozenset(
    {
        "identifier",
        "type_identifier",
        "number_literal",
        "binary_expression",
        "unary_expression",
        "parenthesized_expression",
        "cast_expression",
        "type_descriptor",
        "primitive_type",
        "sized_type_specifier",
        "type_qualifier",
        "abstract_pointer_declarator",
        "conditional_expression",
        "field_expression",
        "field_identifier",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """One declared variable. key: its name, with a number where others have it too; statement: its
    declaration; scope: where it is known; form: identifier, pointer_declarator or
    array_declarator; value: what it begins with."""

    key: str
    name: str
    statement: Node
    scope: Node
    declarator: Node
    form: str
    value: Node | None


class Locals:
    """Of one function. Its names are keys: of locals with one name each has another."""

    def __init__(self, reading: Reading, function: Function) -> None:
        self.reading = reading
        self.body = function.body
        self.parameters = {one.name: one for one in function.parameters}
        self.declared: dict[str, Local] = {}
        self._by_name: dict[str, list[Local]] = {}
        for node in walk(self.body):
            if node.type == "declaration":
                for one in declared(reading, node):
                    known = self._by_name.setdefault(one.name, [])
                    taken = known or one.name in self.parameters
                    key = f"{one.name}@{len(known)}" if taken else one.name
                    known.append(replace(one, key=key))
                    self.declared[key] = known[-1]
        self._changes = [*self._all_changes()]

    # --- names --------------------------------------------------------------------------------

    def key(self, node: Node) -> str:
        """Of the variable that an identifier means: that of the innermost scope."""
        name = node.text.decode()
        known = [
            one
            for one in self._by_name.get(name, ())
            if one.scope.start_byte <= node.start_byte < one.scope.end_byte
            and one.statement.start_byte <= node.start_byte
        ]
        return max(known, key=lambda one: one.scope.start_byte).key if known else name

    def of(self, statement: Node) -> list[Local]:
        """What a declaration declares."""
        return [one for one in self.declared.values() if one.statement.id == statement.id]

    def names(self, node: Node) -> set[str]:
        return {self.key(one) for one in variables(node)}

    def with_names(self, node: Node, names: Mapping[str, str]) -> str:
        """A node's text with variables replaced."""
        found = ((one, self.key(one)) for one in variables(node))
        edits = [(one.start_byte, one.end_byte, names[key]) for one, key in found if key in names]
        return self.reading.replaced(node.start_byte, node.end_byte, edits)

    def used_within(self, key: str, start: int, end: int) -> bool:
        """Whether all that is said of a variable stands between two offsets."""
        name = key.partition("@")[0]
        return all(
            start <= one.start_byte and one.end_byte <= end
            for one in variables(self.body)
            if one.text.decode() == name and self.key(one) == key
        )

    # --- changes ------------------------------------------------------------------------------

    def _all_changes(self) -> Iterator[tuple[str, Node, Node | None]]:
        """(key, where, by what) of each assignment to a variable, or to a part of one."""
        for node in walk(self.body):
            if node.type == "assignment_expression":
                left = node.child_by_field_name("left")
                yield from ((one, node, node) for one in self._base(left))
            elif node.type == "update_expression":
                argument = node.child_by_field_name("argument")
                yield from ((one, node, None) for one in self._base(argument))
            elif node.type == "pointer_expression" and node.children[0].type == "&":
                argument = node.child_by_field_name("argument")
                yield from ((one, node, node.parent) for one in self._base(argument))
            elif node.type == "call_expression" and self._may_change(node):
                arguments = node.child_by_field_name("arguments")
                for one in arguments.named_children:
                    if one.type in ("identifier", "subscript_expression", "field_expression"):
                        yield from ((key, node, node) for key in self._base(one))

    def _base(self, node: Node) -> list[str]:
        """The variable that is changed, unless that is memory behind a pointer."""
        through = False
        while True:
            node = bare(node)
            if node.type in ("subscript_expression", "field_expression"):
                through = through or node.type == "subscript_expression"
                node = node.child_by_field_name("argument")
            elif node.type == "pointer_expression" and node.children[0].type == "*":
                return []
            else:
                break
        if node.type != "identifier":
            return []
        key = self.key(node)
        pointer = key in self.parameters and self.parameters[key].pointer
        local = self.declared.get(key)
        if through and (pointer or (local is not None and local.form == "pointer_declarator")):
            return []
        return [key]

    def _may_change(self, call: Node) -> bool:
        """Whether it is a function of the file with a reference among its parameters."""
        callee = call.child_by_field_name("function")
        if callee.type == "template_function":
            callee = callee.child_by_field_name("name")
        known = self.reading.functions.get(callee.text.decode())
        return known is not None and "&" in self.reading.text(known.node).partition("{")[0]

    def changes(self, key: str) -> list[Node]:
        return [node for one, node, _ in self._changes if one == key]

    def changed_in(self, node: Node) -> set[str]:
        """All variables that are changed there."""
        return {
            key
            for key, where, _ in self._changes
            if node.start_byte <= where.start_byte < node.end_byte
        }

    # --- what depends on what -----------------------------------------------------------------

    def varying(self, first: set[str], settled: Container[int]) -> set[str]:
        """All whose value may depend on one of the first, or on an atomic's answer. settled: ids of
        statements whose conditions decide nothing."""
        found = set(first)
        before = -1
        while len(found) > before:
            before = len(found)
            for key, local in self.declared.items():
                if local.value is not None and self.depends(local.value, found):
                    found.add(key)
            for key, where, by in self._changes:
                if (by is not None and self.depends(by, found)) or self._under(
                    where, found, settled
                ):
                    found.add(key)
        return found

    def depends(self, node: Node, keys: set[str]) -> bool:
        return bool(self.names(node) & keys) or self.asks_atomics(node)

    def asks_atomics(self, node: Node) -> bool:
        """Whether it calls an atomic, or a function of the file, which may call one."""
        for one in walk(node):
            if one.type == "call_expression":
                callee = one.child_by_field_name("function").text.decode()
                known = self.reading.functions.get(callee.partition("<")[0])
                if "tomic" in callee:
                    return True
                if known is not None and "tomic" in self.reading.text(known.node):
                    return True
        return False

    def _under(self, node: Node, keys: set[str], settled: Container[int]) -> bool:
        """Whether control over it depends on one of the keys."""
        while node.parent is not None and node.id != self.body.id:
            inner, node = node, node.parent
            if node.id in settled or node.type not in (*CONTROLS, "conditional_expression"):
                continue
            condition = node.child_by_field_name("condition")
            if condition is None or condition.id == inner.id:
                continue
            if self.depends(condition, keys):
                return True
        return False

    def formula(self, key: str) -> Node | None:
        """The arithmetic that a variable stands for wherever it is used; None: it can't be told."""
        local = self.declared.get(key)
        if local is None or local.value is None or local.form == "array_declarator":
            return None
        if self.changes(key) or any(
            one.is_named and one.type not in _PLAIN for one in walk(local.value)
        ):
            return None
        if any(one.type in ("/", "%") for one in walk(local.value)):
            return None  # too dear to be computed wherever it is used
        end = local.statement.end_byte
        for one in self.names(local.value):
            if any(where.end_byte > end for where in self.changes(one)):
                return None
        return local.value


def declared(reading: Reading, statement: Node) -> list[Local]:
    """What a declaration declares. Raises Unsure: a reference, or another form."""
    found = []
    for node in statement.children_by_field_name("declarator"):
        value = None
        declarator = node
        if node.type == "init_declarator":
            declarator, value = (
                node.child_by_field_name("declarator"),
                node.child_by_field_name("value"),
            )
        name = declared_name(declarator)
        if name is None:
            raise Unsure
        form = declarator.type
        if form == "reference_declarator":
            form = "reference"
        found.append(
            Local(
                key=reading.text(name),
                name=reading.text(name),
                statement=statement,
                scope=_scope(statement),
                declarator=declarator,
                form=form,
                value=value,
            )
        )
    return found


def _scope(statement: Node) -> Node:
    node = statement.parent
    while node.parent is not None and node.type not in ("compound_statement", "for_statement"):
        node = node.parent
    return node


def statements(block: Node) -> list[Node]:
    """What stands in a compound statement, without comments; any other statement by itself."""
    kids = block.named_children if block.type == "compound_statement" else [block]
    return [one for one in kids if one.type != "comment"]


def leaves_loop(body: Node) -> bool:
    """Whether a break or continue in it belongs to the loop around it."""
    stack = [body]
    while stack:
        one = stack.pop()
        if one.type in ("break_statement", "continue_statement"):
            return True
        if one.type not in LOOPS and one.type != "switch_statement":
            stack += one.children
        elif one.type == "switch_statement" and inside(one, "continue_statement"):
            return True
    return False
