"""Integer expressions of C as the front matter writes them: divisions, and those rounded up."""

import ast
import re

from evaluators.expression import ExpressionError, parse_expression

_METHOD = re.compile(r"[A-Za-z_]\w*\.[A-Za-z_]\w*\(\d*\)")
_CEIL = re.compile(r"\w*(ceil|div_?up|cdiv|divup)\w*", re.IGNORECASE)


def as_expression(text: str) -> str:
    """C's text in the language of expressions; empty where it can't be said in it.

    What a method gives, such as x.size(0), stays as written, to be replaced by a person.
    """
    methods: list[str] = []

    def kept(found: re.Match[str]) -> str:
        methods.append(found[0])
        return f"method_{len(methods) - 1}"

    text = _METHOD.sub(kept, text)
    text = re.sub(r"\b(\d+)(?:\.0*)?[fFuUlL]*(?![\w.])", r"\1", text)  # without suffixes
    try:
        made = ast.unparse(_Integers().visit(ast.parse(text, mode="eval").body))
        parse_expression(made)
    except (SyntaxError, ValueError, RecursionError, ExpressionError):
        return ""
    return re.sub(r"method_(\d+)", lambda found: methods[int(found[1])], made)


class _Integers(ast.NodeTransformer):
    """C's division of integers, and the ways in which people round it up."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        above = _rounded_up(node.left, node.right)
        if above is not None:
            return _ceil_div(above, node.right)
        return ast.BinOp(node.left, ast.FloorDiv(), node.right)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or not _CEIL.fullmatch(node.func.id):
            return node
        if len(node.args) == 2:
            return _ceil_div(*node.args)
        inside = node.args[0] if len(node.args) == 1 else None
        if isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.FloorDiv):
            return _ceil_div(inside.left, inside.right)
        return node


def _ceil_div(above: ast.expr, below: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("ceil_div", ast.Load()), [above, below], [])


def _rounded_up(above: ast.expr, below: ast.expr) -> ast.expr | None:
    """a of a + b - 1, a - 1 + b, a + (b - 1) and a + 255, where it is divided by b or by 256."""
    terms = _terms(above)
    texts = [ast.unparse(one) for _, one in terms]
    constant = below.value if isinstance(below, ast.Constant) else None
    rest = [*terms]
    if ast.unparse(below) in texts and "1" in texts:
        for wanted, sign in ((ast.unparse(below), 1), ("1", -1)):
            found = next((t for t in rest if t[0] == sign and ast.unparse(t[1]) == wanted), None)
            if found is None:
                return None
            rest.remove(found)
    elif isinstance(constant, int) and (1, str(constant - 1)) in [
        (sign, ast.unparse(one)) for sign, one in terms
    ]:
        rest = [t for t in terms if ast.unparse(t[1]) != str(constant - 1)]
    else:
        return None
    if not rest or rest[0][0] != 1:
        return None
    made = rest[0][1]
    for sign, one in rest[1:]:
        made = ast.BinOp(made, ast.Add() if sign == 1 else ast.Sub(), one)
    return made


def _terms(node: ast.expr, sign: int = 1) -> list[tuple[int, ast.expr]]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        right = sign if isinstance(node.op, ast.Add) else -sign
        return [*_terms(node.left, sign), *_terms(node.right, right)]
    return [(sign, node)]
