"""Which expressions depend on nothing but indices, arguments and variables."""

from evaluators.cpu.fission.groups import READS
from evaluators.cpu.fission.ir import Facts, Var
from evaluators.cpu.fission.names import PURE_CALLS
from evaluators.cpu.fission.source import Function, Unit
from evaluators.cpu.fission.tree import Node, callee

_TRANSPARENT = frozenset(
    [
        "parenthesized_expression",
        "binary_expression",
        "unary_expression",
        "conditional_expression",
        "cast_expression",
        "type_descriptor",
        "primitive_type",
        "sized_type_specifier",
        "type_qualifier",
        "abstract_pointer_declarator",
        "template_argument_list",
        "argument_list",
        "initializer_list",
        "sizeof_expression",
        "qualified_identifier",
        "template_function",
        "template_type",
        "compound_literal_expression",
        "condition_clause",
        "abstract_parenthesized_declarator",
        "abstract_array_declarator",
        "subscript_argument_list",
        "type",
    ]
)
_LEAVES = frozenset(
    [
        "number_literal",
        "char_literal",
        "true",
        "false",
        "type_identifier",
        "namespace_identifier",
        "uniform_value",
        "field_identifier",
        "primitive_type",
    ]
)
_IMPURE = Facts(False, True, frozenset())


class Purity:
    """Facts on expressions whose names are resolved."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.functions: dict[str, Facts] = {}

    def facts(self, node: Node) -> Facts:
        """On the value of an expression."""
        found: set[Var] = set()
        thread = self._walk(node, found, address=False)
        return _IMPURE if thread is None else Facts(True, thread, frozenset(found))

    def address(self, node: Node) -> Facts:
        """On where an lvalue stands."""
        found: set[Var] = set()
        thread = self._walk(node, found, address=True)
        return _IMPURE if thread is None else Facts(True, thread, frozenset(found))

    def _walk(self, node: Node, found: set[Var], *, address: bool) -> bool | None:
        """Whether it depends on the thread; None when it is not pure."""
        kind = node.kind
        if kind == "identifier" or kind == "type_identifier":
            var = node.var
            if isinstance(var, Var):
                if var.is_lds and not var.is_array and not address:
                    return None
                found.add(var)
                return False
            if node.text in self.unit.mutable:
                return None
            return node.text in ("threadIdx", "ks_t")
        if kind == "lane":
            return True
        if kind in _LEAVES or (not node.kids and kind not in ("exchange", "generated")):
            return False
        if kind == "call_expression":
            return self._call(node, found)
        if kind == "pointer_expression":
            if node.kids[0].text != "&":
                return None
            return self._walk(node.need("argument"), found, address=True)
        if kind == "subscript_expression":
            if not address:
                return None
            base = node.need("argument")
            return self._several([base, node.need("indices")], found, address=True)
        if kind == "field_expression":
            if node.need("operator").text != ".":
                return None
            return self._walk(node.need("argument"), found, address=address)
        if kind == "assignment_expression" or kind == "update_expression":
            return self._several(node.kids, found, address=False)  # of a plain variable
        if kind not in _TRANSPARENT:
            return None
        return self._several(node.kids, found, address=address and "parenthes" in kind)

    def _several(self, nodes: list[Node], found: set[Var], *, address: bool) -> bool | None:
        thread = False
        for node in nodes:
            one = self._walk(
                node, found, address=address and node.kind != "subscript_argument_list"
            )
            if one is None:
                return None
            thread |= one
        return thread

    def _call(self, node: Node, found: set[Var]) -> bool | None:
        word = callee(node)
        function = node.need("function")
        if function.var is not None:
            return None
        arguments = self._walk(node.need("arguments"), found, address=False)
        if arguments is None:
            return None
        if function.kind == "template_function":
            inner = self._walk(function.need("arguments"), found, address=False)
            if inner is None:
                return None
        if word in PURE_CALLS or word in READS:
            return arguments
        defined = self.unit.named(word)
        if not defined or function.kind == "field_expression":
            return None
        for one in defined:
            body = self._function(one)
            if not body.pure:
                return None
            arguments |= body.thread
        return arguments

    def _function(self, function: Function) -> Facts:
        """A device function that only returns an expression of its parameters."""
        key = f"{function.name}/{len(function.params)}/{function.body.line}"
        if key not in self.functions:
            self.functions[key] = _IMPURE  # while it is looked at: no recursion
            statements = [k for k in function.body.kids if k.kind not in ("{", "}")]
            if len(statements) == 1 and statements[0].kind == "return_statement":
                value = statements[0].kids[1]
                if value.kind != ";":
                    self.functions[key] = self.facts(value)
        return self.functions[key]
