"""Which attributes of which classes a program reads, by the types that mypy infers."""

import ast
from collections.abc import Iterable
from pathlib import Path

from mypy import build
from mypy.modulefinder import BuildSource
from mypy.nodes import MemberExpr
from mypy.options import Options
from mypy.types import Instance, Type, UnionType, get_proper_type

ROOT = Path(__file__).resolve().parents[2]


def reads(files: Iterable[Path], root: Path = ROOT) -> set[tuple[str, str]]:
    """(a class's full name, an attribute of it), for every read in files below root.

    What a pydantic model's validator reads is left out: checking a value is not using it.
    """
    sources = [
        BuildSource(None, _module(file.relative_to(root)), _without_validators(file))
        for file in files
    ]
    types = build.build(sources, _options()).types
    return {
        (owner.type.fullname, expression.name)
        for expression in types
        if isinstance(expression, MemberExpr) and expression.expr in types
        for owner in _instances(types[expression.expr])
    }


def _module(file: Path) -> str:
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def _without_validators(file: Path) -> str:
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.body = [one for one in node.body if not _validates(one)] or [ast.Pass()]
    return ast.unparse(tree)


def _validates(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and any(
        "validator" in ast.unparse(decorator) for decorator in statement.decorator_list
    )


def _options() -> Options:
    """Of the program alone: what it imports from elsewhere need not be known."""
    options = Options()
    options.export_types = options.preserve_asts = True
    options.incremental = False
    options.follow_imports = "skip"
    options.no_site_packages = options.ignore_missing_imports = True
    options.explicit_package_bases = options.namespace_packages = True
    options.check_untyped_defs = True
    return options


def _instances(of: Type) -> Iterable[Instance]:
    proper = get_proper_type(of)
    if isinstance(proper, UnionType):
        for item in proper.items:
            yield from _instances(item)
    elif isinstance(proper, Instance):
        yield proper
