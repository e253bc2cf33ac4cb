"""All terms of a program's launches: the names in them, and other ones in their place."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from evaluators.authoring.program import terms
from evaluators.authoring.program.arguments import (
    Argument,
    Bound,
    Scalar,
    Struct,
    pointers,
    scalars,
)
from evaluators.authoring.program.reading import Dim
from evaluators.authoring.program.terms import Term


def values_of(templates: Sequence[Term | str]) -> Iterator[Term]:
    yield from (one for one in templates if not isinstance(one, str))


def extents(bounds: Sequence[Bound]) -> Iterator[Term]:
    for bound in bounds:
        for one in pointers(bound.arguments):
            if one.memory.elements is not None:
                yield one.memory.elements


def all_terms(bounds: Sequence[Bound]) -> Iterator[Term]:
    yield from extents(bounds)
    for bound in bounds:
        yield from (one.term for one in scalars(bound.arguments))
        yield from (*bound.grid, *bound.block, bound.lds_bytes, *values_of(bound.templates))
        if bound.when is not None:
            yield bound.when
        if bound.repeat is not None:
            yield bound.repeat[1]


def names_in(found: Iterable[Term]) -> Iterator[str]:
    for term in found:
        yield from terms.names(term)


def changed(argument: Argument, leaf: Callable[[Term], Term]) -> Argument:
    if isinstance(argument, Scalar):
        term = terms.replaced(argument.term, leaf)
        return replace(argument, term=term)
    if isinstance(argument, Struct):
        fields = tuple(changed(one, leaf) for one in argument.fields)
        return Struct(argument.name, argument.type, fields)
    return argument


def each(dim: Dim, leaf: Callable[[Term], Term]) -> Dim:
    x, y, z = (terms.replaced(one, leaf) for one in dim)
    return (x, y, z)


def rewrite(
    bounds: Sequence[Bound],
    leaf: Callable[[Term], Term],
    whole: Callable[[Term], Term] = lambda t: t,
) -> None:
    """Every term of the launches and of the memory that they are given, once."""

    def new(term: Term) -> Term:
        return terms.replaced(whole(term), leaf)

    memories = {id(one.memory): one.memory for bound in bounds for one in pointers(bound.arguments)}
    for memory in memories.values():
        if memory.elements is not None:
            memory.elements = new(memory.elements)
    for bound in bounds:
        bound.arguments = [_rewritten(one, new) for one in bound.arguments]
        bound.grid = (new(bound.grid[0]), new(bound.grid[1]), new(bound.grid[2]))
        bound.block = (new(bound.block[0]), new(bound.block[1]), new(bound.block[2]))
        bound.lds_bytes = new(bound.lds_bytes)
        bound.templates = [t if isinstance(t, str) else new(t) for t in bound.templates]
        bound.when = new(bound.when) if bound.when is not None else None
        if bound.repeat is not None:
            bound.repeat = (bound.repeat[0], new(bound.repeat[1]))


def _rewritten(argument: Argument, new: Callable[[Term], Term]) -> Argument:
    if isinstance(argument, Scalar):
        return replace(argument, term=new(argument.term))
    if isinstance(argument, Struct):
        fields = tuple(_rewritten(one, new) for one in argument.fields)
        return Struct(argument.name, argument.type, fields)
    return argument
