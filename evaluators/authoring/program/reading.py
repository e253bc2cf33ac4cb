"""Terms of host expressions: which sizes and constants of the program a launch depends on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from evaluators.authoring.program import terms
from evaluators.authoring.program.cpp import Node, node_text, parsed_expression
from evaluators.authoring.program.elements import bare_type, element
from evaluators.authoring.program.host import DEEPEST, Declared, Frame, Host
from evaluators.authoring.program.items import arguments_of
from evaluators.authoring.program.numbers import DECIMAL, number
from evaluators.authoring.program.terms import Num, Number, Op, SizeOf, Sym, Term, Unknown, op

_SIGNS = {"&&": "and", "||": "or"}
_SAME = ("+", "-", "*", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=")
_FUNCTIONS = {"min": "min", "max": "max", "fmin": "min", "fmax": "max"}
_FUNCTIONS |= {"sqrt": "sqrt", "sqrtf": "sqrt"}
_CASTS = ("static_cast", "reinterpret_cast", "const_cast")
AXES = ("x", "y", "z")
Dim = tuple[Term, Term, Term]


@dataclass
class Symbol:
    """What is known of a name that terms go back to. value: None where only a run tells."""

    name: str
    value: Number | None
    type: str
    code: bool
    """Whether it is a macro or a constant outside of functions, so that kernels may use it."""


@dataclass
class Reader:
    """Reads terms; symbols: every name that one of them goes back to."""

    host: Host
    symbols: dict[str, Symbol] = field(default_factory=dict)
    products: dict[str, Term] = field(default_factory=dict)
    """Variables that are products of others: rows = batch * tokens."""

    def term(self, node: Node, frame: Frame, depth: int = 0) -> Term:
        """Raises nothing: what is not understood is an Unknown."""
        if depth > 6 * DEEPEST:
            return Unknown(node_text(node))
        deeper = depth + 1
        match node.type:
            case "number_literal":
                return number(node_text(node))
            case "true" | "false":
                return Num(int(node.type == "true"))
            case "identifier":
                return self._name(node_text(node), frame, deeper)
            case "qualified_identifier":
                return self._name(node_text(node).split("::")[-1], frame, deeper)
            case "parenthesized_expression":
                return self.term(node.named_children[0], frame, deeper)
            case "cast_expression":
                return self._field(node, "value", frame, deeper)
            case "unary_expression":
                sign = node_text(node)[:1]
                inner = self._field(node, "argument", frame, deeper)
                known = {"-": "neg", "!": "not"}
                return (
                    inner
                    if sign == "+"
                    else op(known[sign], inner)
                    if sign in known
                    else (Unknown(node_text(node)))
                )
            case "binary_expression":
                return self._binary(node, frame, deeper)
            case "conditional_expression":
                return self._choice(node, frame, deeper)
            case "sizeof_expression":
                return self._size(node, frame)
            case "call_expression":
                return self._call(node, frame, deeper)
            case "field_expression":
                return self._member(node, frame, deeper)
            case "assignment_expression":
                return self._field(node, "right", frame, deeper)
            case "initializer_list" | "compound_literal_expression" if (
                len(node.named_children) == 1
            ):
                return self.term(node.named_children[0], frame, deeper)
        return Unknown(node_text(node))

    def dim(self, node: Node, frame: Frame, depth: int = 0) -> Dim:
        """A dim3, or a number of blocks or threads alone."""
        if depth <= DEEPEST:
            if node.type == "identifier":
                found = self.host.local(frame, node_text(node)) or self.host.globals.get(
                    node_text(node)
                )
                if found is not None and "dim3" in found.type:
                    return self._dims(found.values, self._within(frame, found), depth + 1)
                place = self.host.parameter(frame, node_text(node))
                if found is None and place >= 0 and (up := self.host.passed(frame, place)):
                    return self.dim(*up, depth + 1)
            if node.type == "parenthesized_expression":
                return self.dim(node.named_children[0], frame, depth + 1)
            if node.type == "call_expression" and node_text(node).startswith("dim3"):
                return self._dims(arguments_of(node), frame, depth + 1)
            if node.type == "compound_literal_expression":
                listed = node.child_by_field_name("value")
                return self._dims(listed.named_children if listed else (), frame, depth + 1)
        return (self.term(node, frame), Num(1), Num(1))

    def _dims(self, nodes: Sequence[Node], frame: Frame, depth: int) -> Dim:
        if len(nodes) == 1:
            return self.dim(nodes[0], frame, depth)
        read = [self.term(one, frame) for one in nodes[:3]]
        read += [Num(1)] * (3 - len(read))
        return (read[0], read[1], read[2])

    def floating(self, node: Node, frame: Frame, depth: int = 0) -> bool:
        """Whether an expression is of a floating type, as far as its text tells."""
        if depth > DEEPEST:
            return False
        match node.type:
            case "number_literal":
                return bool(DECIMAL.fullmatch(node_text(node).replace("'", "")))
            case "identifier":
                return _floats(self.host.type_of(frame, node_text(node)))
            case "cast_expression":
                return _floats(node_text(node.child_by_field_name("type") or node))
            case "call_expression":
                name = node_text(node.child_by_field_name("function") or node)
                if "_cast<" in name or name in ("float", "double"):
                    return _floats(name)
                return any(self.floating(one, frame, depth + 1) for one in arguments_of(node)) or (
                    "sqrt" in name
                )
            case "sizeof_expression" | "field_expression":
                return False
        return any(self.floating(one, frame, depth + 1) for one in node.named_children)

    def _field(self, node: Node, name: str, frame: Frame, depth: int) -> Term:
        inner = node.child_by_field_name(name)
        return Unknown(node_text(node)) if inner is None else self.term(inner, frame, depth)

    def _binary(self, node: Node, frame: Frame, depth: int) -> Term:
        left, right = (self._field(node, side, frame, depth) for side in ("left", "right"))
        sign = node_text(node.child_by_field_name("operator") or node)
        if sign == "/":
            return op("/" if self.floating(node, frame) else "//", left, right)
        if sign == "&" and isinstance(left, Num) and isinstance(right, Num):
            return Num(int(left.value) & int(right.value))
        if sign in _SIGNS or sign in _SAME:
            return op(_SIGNS.get(sign, sign), left, right)
        return Unknown(node_text(node))

    def _choice(self, node: Node, frame: Frame, depth: int) -> Term:
        """A default where the other comes from the command line; a minimum or maximum."""
        yes, no = (self._field(node, side, frame, depth) for side in ("consequence", "alternative"))
        condition = node.child_by_field_name("condition")
        text = node_text(condition) if condition is not None else ""
        if re.search(r"\barg[cv]\b|getenv", text) or terms.unknown(yes) != terms.unknown(no):
            return no if terms.unknown(yes) else yes if terms.unknown(no) else no
        asked = self.term(condition, frame, depth) if condition is not None else Unknown(text)
        if isinstance(asked, Num):
            return yes if asked.value else no
        if isinstance(asked, Op) and asked.sign in ("<", "<=", ">", ">="):
            smaller = asked.sign in ("<", "<=")
            if asked.args == (yes, no):
                return op("min" if smaller else "max", yes, no)
            if asked.args == (no, yes):
                return op("max" if smaller else "min", yes, no)
        return Unknown(node_text(node))

    def _size(self, node: Node, frame: Frame) -> Term:
        kind = node.child_by_field_name("type")
        if kind is not None and node_text(kind) not in self._locals(frame):
            return SizeOf(node_text(kind))
        inner = node.child_by_field_name("value") or kind
        text = node_text(inner).strip("()* \t") if inner is not None else ""
        name = re.sub(r"\[.*\]$", "", text)
        known = self.host.type_of(frame, name)
        return SizeOf(bare_type(known)) if known else SizeOf(text)

    def _locals(self, frame: Frame) -> set[str]:
        return {one.name for one in self.host._declarations(frame.function)}

    def _call(self, node: Node, frame: Frame, depth: int) -> Term:
        function = node.child_by_field_name("function")
        text = node_text(function) if function is not None else ""
        given = arguments_of(node)
        name = text.split("<")[0].split("::")[-1]
        if function is not None and function.type == "field_expression":
            return self._member(function, frame, depth)
        if name in _CASTS or (len(given) == 1 and element(name, {}).dtype):
            return self.term(given[0], frame, depth) if given else Unknown(node_text(node))
        if name in ("ceil", "ceilf", "floor", "floorf") and len(given) == 1:
            return _rounded(self.term(given[0], frame, depth), name)
        if (made := self.host.expanded(name, [node_text(one) for one in given])) is not None:
            return self.term(made, frame, depth)
        if name in self.host.functions or name in self.host.device:
            return self._inlined(node, frame, depth)
        if name in _FUNCTIONS:
            return op(_FUNCTIONS[name], *(self.term(one, frame, depth) for one in given))
        return Unknown(node_text(node))

    def _inlined(self, call: Node, frame: Frame, depth: int) -> Term:
        """A function that does nothing but return an expression."""
        name = node_text(call.child_by_field_name("function") or call)
        name = name.split("<")[0].split("::")[-1]
        function = self.host.functions.get(name) or self.host.device[name]
        body = function.node.child_by_field_name("body")
        kids = [one for one in body.named_children if one.type != "comment"] if body else []
        if len(kids) == 1 and kids[0].type == "return_statement" and kids[0].named_children:
            inner = Frame(function, kids[0].start_byte, frame, call, inline=True)
            return self.term(kids[0].named_children[0], inner, depth)
        return Unknown(node_text(call))

    def _member(self, node: Node, frame: Frame, depth: int) -> Term:
        """grid.x, and the size of a vector."""
        base, of = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if base is None or of is None:
            return Unknown(node_text(node))
        name, what = node_text(base), node_text(of)
        found, place = self.host.local(frame, name), self.host.parameter(frame, name)
        if what in AXES and "dim3" in self.host.type_of(frame, name):
            return self.dim(base, frame)[AXES.index(what)]
        if what in ("size", "length", "count", "numel"):
            if found is not None and found.values and not found.braced and "*" not in found.type:
                return self.term(found.values[0], self._within(frame, found), depth)
            if found is None and place >= 0 and (up := self.host.passed(frame, place)):
                made = parsed_expression(f"{node_text(up[0])}.{what}()")
                if up[0].type == "identifier" and made is not None:
                    return self.term(made, up[1], depth)
        return Unknown(node_text(node))

    def _within(self, frame: Frame, found: Declared) -> Frame:
        """Where the declaration stands: later ones of its names do not count."""
        if found.values and self.host.enclosing(found.at) is frame.function:
            return Frame(frame.function, found.at, frame.caller, frame.call)
        return frame

    def _name(self, name: str, frame: Frame, depth: int) -> Term:
        if (found := self.host.local(frame, name)) is not None:
            if not found.values or found.values[0].start_byte == found.at:
                return self._symbol(name, None, found.type, code=False)
            inner = self.term(found.values[0], self._within(frame, found), depth)
            return self._known(name, inner, found.type, code=False)
        place = self.host.parameter(frame, name)
        if place >= 0:
            if (up := self.host.passed(frame, place)) is not None:
                inner = self.term(*up, depth)
                if frame.inline:
                    return inner
                return self._known(name, inner, self.host.type_of(frame, name), code=False)
            return self._symbol(name, None, self.host.type_of(frame, name), code=False)
        if name in self.host.globals:
            of = self.host.globals[name]
            inner = self.term(of.values[0], frame, depth) if of.values else Unknown(name)
            return self._known(name, inner, of.type, code=True)
        if name in self.host.macros and self.host.macros[name].parameters is None:
            body = parsed_expression(self.host.macros[name].body)
            inner = self.term(body, frame, depth) if body is not None else Unknown(name)
            decimal = body is not None and self.floating(body, frame)
            return self._known(name, inner, "double" if decimal else "int", code=True)
        given = parsed_expression(self.host.template_words.get(name, ""))
        return self.term(given, frame, depth) if given is not None else Unknown(name)

    def _known(self, name: str, inner: Term, type_text: str, *, code: bool) -> Term:
        """A number, or what only a run tells, is a symbol; what is made of others is those."""
        if isinstance(inner, Num):
            return self._symbol(name, inner.value, type_text, code=code)
        if isinstance(inner, Unknown) and not code:
            return self._symbol(name, None, type_text, code=False)
        if isinstance(inner, Op) and inner.sign == "*":
            self.products.setdefault(name, inner)
        return inner

    def _symbol(self, name: str, number: Number | None, type_text: str, *, code: bool) -> Term:
        known = self.symbols.get(name)
        if known is None or known.value is None:
            self.symbols[name] = Symbol(name, number, type_text, code or bool(known and known.code))
        elif number is not None and known.value != number and not code:
            return Num(number)
        return Sym(name)


def _floats(type_text: str) -> bool:
    return bool(re.search(r"\b(float|double|half|__half|_Float16)\b", type_text)) and (
        "*" not in type_text
    )


def _rounded(inner: Term, name: str) -> Term:
    """ceil(n / 256.0) is ceil_div(n, 256)."""
    if isinstance(inner, Op) and inner.sign == "/":
        above, below = inner.args
        if isinstance(below, Num) and float(below.value).is_integer():
            below = Num(int(below.value))
        return op("ceil_div" if name.startswith("ceil") else "//", above, below)
    return inner
