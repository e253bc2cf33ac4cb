"""Which names of a program are dims, attributes and parameters of the task that it becomes."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evaluators.authoring.drafting import terms
from evaluators.authoring.drafting.binding import Argument, Bound, Pointer, Scalar, Struct, scalars
from evaluators.authoring.drafting.binding import pointers as pointers_of
from evaluators.authoring.drafting.reading import Dim, Reader
from evaluators.authoring.drafting.signature import FLOATING
from evaluators.authoring.drafting.terms import Num, Number, Op, Sym, Term

LEAST_SIZE = 16
"""An integer that is passed as a plain number is a size from here on, an attribute below."""
MOST_THREADS = 1024


@dataclass
class Sizes:
    """dims: each with the program's value, None where only a run tells. attributes: a number or a
    boolean each, and whether its value was guessed. params: macros and numbers of launches.

    specialize: dims that the code knows as macros or constants. fixed: dims whose value stays, since
    the code has arrays of that size. steps: what a dim must be a multiple of.
    """

    dims: dict[str, int | None] = field(default_factory=dict)
    attributes: dict[str, Number | bool] = field(default_factory=dict)
    guessed: set[str] = field(default_factory=set)
    params: dict[str, int] = field(default_factory=dict)
    specialize: list[str] = field(default_factory=list)
    fixed: set[str] = field(default_factory=set)
    steps: dict[str, int] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    """Constants and macros of the code that front matter defines in their place."""

    @property
    def taken(self) -> set[str]:
        return {*self.dims, *self.attributes, *self.params}

    def values(self) -> dict[str, Number]:
        known = {name: value for name, value in self.dims.items() if value is not None}
        return {**known, **{k: int(v) for k, v in self.attributes.items()}, **self.params}


def classify(bounds: Sequence[Bound], reader: Reader, code_words: Collection[str]) -> Sizes:
    """Names what every term of the launches goes back to, and rewrites the launches in these names.

    code_words: all names that the device code uses.
    """
    _gather(bounds, reader)
    _name_literals(bounds, reader)
    sizes = Sizes()
    renamed: dict[str, str] = {}
    in_blocks = set(_names(t for b in bounds for t in (*b.block, *_values(b.templates))))
    in_grids = set(_names(t for b in bounds for t in b.grid))
    extents = set(_names(_extents(bounds)))
    passed = {
        s.term.name: s for b in bounds for s in scalars(b.arguments) if isinstance(s.term, Sym)
    }
    counted = {b.repeat[0] for b in bounds if b.repeat is not None}
    for name in dict.fromkeys(_names(_all_terms(bounds))):
        symbol = reader.symbols[name]
        coded = symbol.code and name in code_words
        if name in counted:
            continue
        scalar = passed.get(name)
        own = scalar.name if scalar is not None and _once(bounds, name) else name
        if scalar is not None and scalar.element.dtype in (*FLOATING, "bool"):
            _attribute(sizes, renamed, name, own, scalar, symbol.value)
        elif name in in_blocks and symbol.value is not None:
            _param(sizes, renamed, name, int(symbol.value), coded, code_words)
        elif scalar is not None and name not in extents | in_grids and _small(symbol.value):
            _attribute(sizes, renamed, name, own, scalar, symbol.value)
        elif name in extents or scalar is not None or symbol.value is None:
            _dim(sizes, renamed, name, name if coded else own, symbol.value, coded)
            if coded and name not in in_grids:
                sizes.fixed.add(renamed[name])
        else:
            _param(sizes, renamed, name, int(symbol.value), coded, code_words)
    _literal_attributes(bounds, sizes)
    _rewrite(bounds, lambda t: Sym(renamed.get(t.name, t.name)) if isinstance(t, Sym) else t)
    return sizes


def _small(value: Number | None) -> bool:
    return value is not None and value < LEAST_SIZE


def _once(bounds: Sequence[Bound], name: str) -> bool:
    """Whether one parameter alone is given the symbol, in the only launch there is."""
    taking = {
        s.name for b in bounds for s in scalars(b.arguments) if s.term == Sym(name)
    }
    return len(taking) == 1 and len({b.signature.item.name for b in bounds}) == 1


def _attribute(
    sizes: Sizes,
    renamed: dict[str, str],
    name: str,
    own: str,
    scalar: Scalar,
    value: Number | None,
) -> None:
    word = _free_name(own, sizes.taken)
    renamed[name] = word
    sizes.attributes[word] = _typed(scalar, value)
    if value is None:
        sizes.guessed.add(word)


def _typed(scalar: Scalar, value: Number | None) -> Number | bool:
    if scalar.boolean:
        return True if value is None else bool(value)
    if scalar.element.dtype in FLOATING:
        usual = 1e-5 if re.search(r"eps", scalar.name, re.IGNORECASE) else 1.0
        return float(usual if value is None else value)
    return int(value or 0)


def _dim(
    sizes: Sizes, renamed: dict[str, str], name: str, own: str, value: Number | None, coded: bool
) -> None:
    word = own if coded else _free_name(own, sizes.taken)
    renamed[name] = word
    sizes.dims[word] = int(value) if value is not None else None
    if coded:
        sizes.specialize.append(word)
        sizes.gone.add(name)


def _param(
    sizes: Sizes,
    renamed: dict[str, str],
    name: str,
    value: int,
    coded: bool,
    code_words: Collection[str],
) -> None:
    """A macro: where the code does not mean that very constant, of a name that it does not use."""
    word = name if coded else _macro_name(name, {*code_words, *sizes.taken})
    renamed[name] = word
    sizes.params[word] = value
    if coded:
        sizes.gone.add(name)


def _macro_name(name: str, taken: Collection[str]) -> str:
    """BLOCK_SIZE of kBlockSize."""
    plain = re.sub(r"^k(?=[A-Z])", "", name)
    upper = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).upper()
    for word in (upper, "THREADS", "BLOCK_SIZE"):
        if word not in taken:
            return word
    return _free_name(upper, taken)


def _free_name(name: str, taken: Collection[str]) -> str:
    word, more = name, 2
    while word in taken:
        word, more = f"{name}_{more}", more + 1
    return word


# --- products that are one size -----------------------------------------------------------------


def _gather(bounds: Sequence[Bound], reader: Reader) -> None:
    """rows = batch * tokens is one dim, where the rest of the program knows the product only."""
    wanted = dict(reader.products)
    for bound in bounds:
        for one in scalars(bound.arguments):
            if isinstance(one.term, Op) and one.term.sign == "*":
                wanted.setdefault(one.name, one.term)
    for name, made in wanted.items():
        parts = terms.factors(made)
        if name in reader.symbols or not all(isinstance(one, Sym | Num) for one in parts):
            continue
        before = set(_names(_all_terms(bounds)))
        lost = {part.name for part in parts if isinstance(part, Sym)}
        after = set(_names(_gathered(t, parts, name) for t in _all_terms(bounds)))
        if name not in after or not lost - after or not lost & before:
            continue
        value = terms.value(made, _known(reader))
        reader.symbols[name] = _like(reader, parts, name, value)
        _rewrite(bounds, lambda t: t, lambda t: _gathered(t, parts, name))


def _like(reader: Reader, parts: Sequence[Term], name: str, value: Number | None) -> "Symbol":
    from evaluators.authoring.drafting.reading import Symbol

    return Symbol(name, value, "int", False)


def _known(reader: Reader) -> Mapping[str, Number]:
    return {name: s.value for name, s in reader.symbols.items() if s.value is not None}


def _gathered(term: Term, parts: Sequence[Term], name: str) -> Term:
    """With the product of the parts, wherever it stands, as one symbol."""
    if not isinstance(term, Op):
        return term
    if term.sign != "*":
        return Op(term.sign, tuple(_gathered(part, parts, name) for part in term.args))
    own = [_gathered(one, parts, name) for one in terms.factors(term)]
    left = list(own)
    first = len(own)
    for part in parts:
        if part not in left:
            return terms.product(own)
        first = min(first, own.index(part))
        left.remove(part)
    return terms.product([*left[:first], Sym(name), *left[first:]])


# --- numbers that are sizes ---------------------------------------------------------------------


def _name_literals(bounds: Sequence[Bound], reader: Reader) -> None:
    """k<<<4, 256>>>(x, y, 1024): n is a dim, and 1024 elsewhere is it."""
    from evaluators.authoring.drafting.reading import Symbol

    for bound in bounds:
        named = {
            int(one.term.value): one
            for one in reversed([*scalars(bound.arguments)])
            if isinstance(one.term, Num)
            and one.element.dtype not in (*FLOATING, "bool")
            and one.term.value >= LEAST_SIZE
        }
        for value, one in named.items():
            if one.name in reader.symbols:
                continue
            reader.symbols[one.name] = Symbol(one.name, value, "int", False)

            def change(t: Term, value: int = value, name: str = one.name) -> Term:
                return Sym(name) if t == Num(value) else t

            bound.arguments = [_changed(a, change) for a in bound.arguments]
            for pointer in pointers_of(bound.arguments):
                if pointer.memory.elements is not None:
                    pointer.memory.elements = terms.replaced(pointer.memory.elements, change)
            bound.grid = _each(bound.grid, change)


def _literal_attributes(bounds: Sequence[Bound], sizes: Sizes) -> None:
    """What is passed as a plain number is an attribute, by its parameter's name."""
    for bound in bounds:

        def named(one: Argument) -> Argument:
            if isinstance(one, Struct):
                return Struct(one.name, one.type, tuple(map(named, one.fields)))
            if not isinstance(one, Scalar) or not isinstance(one.term, Num):
                return one
            value = _typed(one, one.term.value)
            word = one.name
            if sizes.attributes.get(word) != value or word in (*sizes.dims, *sizes.params):
                word = _free_name(one.name, sizes.taken)
            sizes.attributes[word] = value
            return Scalar(one.name, Sym(word), one.element, one.boolean)

        bound.arguments = [named(one) for one in bound.arguments]


# --- all terms ----------------------------------------------------------------------------------


def _values(templates: Sequence[Term | str]) -> Iterator[Term]:
    yield from (one for one in templates if not isinstance(one, str))


def _extents(bounds: Sequence[Bound]) -> Iterator[Term]:
    for bound in bounds:
        for one in pointers_of(bound.arguments):
            if one.memory.elements is not None:
                yield one.memory.elements


def _all_terms(bounds: Sequence[Bound]) -> Iterator[Term]:
    yield from _extents(bounds)
    for bound in bounds:
        yield from (one.term for one in scalars(bound.arguments))
        yield from (*bound.grid, *bound.block, bound.lds_bytes, *_values(bound.templates))
        if bound.when is not None:
            yield bound.when
        if bound.repeat is not None:
            yield bound.repeat[1]


def _names(all_terms: Iterator[Term] | Sequence[Term]) -> Iterator[str]:
    for term in all_terms:
        yield from terms.names(term)


def _changed(argument: Argument, leaf: Callable[[Term], Term]) -> Argument:
    if isinstance(argument, Scalar):
        term = terms.replaced(argument.term, leaf)
        return Scalar(argument.name, term, argument.element, argument.boolean)
    if isinstance(argument, Struct):
        fields = tuple(_changed(one, leaf) for one in argument.fields)
        return Struct(argument.name, argument.type, fields)
    return argument


def _each(dim: Dim, leaf: Callable[[Term], Term]) -> Dim:
    x, y, z = (terms.replaced(one, leaf) for one in dim)
    return (x, y, z)


def _rewrite(
    bounds: Sequence[Bound],
    leaf: Callable[[Term], Term],
    whole: Callable[[Term], Term] = lambda t: t,
) -> None:
    """Every term of the launches and of the memory that they are given, once."""

    def new(term: Term) -> Term:
        return terms.replaced(whole(term), leaf)

    memories = {
        id(one.memory): one.memory for bound in bounds for one in pointers_of(bound.arguments)
    }
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
        return Scalar(argument.name, new(argument.term), argument.element, argument.boolean)
    if isinstance(argument, Struct):
        fields = tuple(_rewritten(one, new) for one in argument.fields)
        return Struct(argument.name, argument.type, fields)
    return argument


__all__ = ["Pointer", "Sizes", "classify"]
