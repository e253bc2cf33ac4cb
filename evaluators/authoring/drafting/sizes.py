"""Which names of a program are dims, attributes and parameters of the task that it becomes."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from evaluators.authoring.drafting.merging import LEAST_SIZE, gather, name_literals
from evaluators.authoring.drafting.rewriting import all_terms, extents, names_in, rewrite, values_of
from evaluators.authoring.program import terms
from evaluators.authoring.program.arguments import Argument, Bound, Scalar, Struct, scalars
from evaluators.authoring.program.elements import FLOATING
from evaluators.authoring.program.reading import Reader, Symbol
from evaluators.authoring.program.terms import Num, Number, Sym

GUESSED_SETTING = 4


@dataclass
class Sizes:
    """dims: each with the program's value, None where only a run tells. attributes: a number or a
    boolean each; guessed: those whose value is a guess. params: macros and numbers of launches.

    specialize: dims that the code knows as macros or constants. fixed: dims whose value stays, as
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
    _drop_settled(bounds)
    gather(bounds, reader)
    name_literals(bounds, reader)
    sizes = Sizes()
    renamed: dict[str, str] = {}
    in_blocks = set(names_in(t for b in bounds for t in (*b.block, *values_of(b.templates))))
    in_grids = set(names_in(t for b in bounds for t in b.grid))
    held = set(names_in(extents(bounds)))
    passed = {
        s.term.name: s for b in bounds for s in scalars(b.arguments) if isinstance(s.term, Sym)
    }
    counted = {b.repeat[0] for b in bounds if b.repeat is not None}
    for name in dict.fromkeys(names_in(all_terms(bounds))):
        symbol = reader.symbols[name]
        coded = symbol.code and name in code_words
        if name in counted:
            continue
        scalar = passed.get(name)
        own = name if scalar is None or scalar.lane or not _once(bounds, name) else scalar.name
        if scalar is not None and scalar.element.dtype in (*FLOATING, "bool"):
            _attribute(sizes, renamed, name, own, scalar, symbol.value)
        elif name in in_blocks and symbol.value is not None:
            _param(sizes, renamed, name, int(symbol.value), coded, code_words)
        elif (
            scalar is not None
            and name not in held | in_grids
            and _is_setting(symbol, scalar, bounds, held)
        ):
            _attribute(sizes, renamed, name, own, scalar, symbol.value)
        elif name in held or scalar is not None or symbol.value is None:
            _dim(sizes, renamed, name, name if coded else own, symbol.value, coded)
            if coded and name not in in_grids:
                sizes.fixed.add(renamed[name])
        else:
            _param(sizes, renamed, name, int(symbol.value), coded, code_words)
    _literal_attributes(bounds, sizes)
    rewrite(bounds, lambda t: Sym(renamed.get(t.name, t.name)) if isinstance(t, Sym) else t)
    return sizes


def _drop_settled(bounds: Sequence[Bound]) -> None:
    """Conditions on what no array, grid or argument depends on: the program's own choices."""
    asked = [bound.when for bound in bounds]
    for bound in bounds:
        bound.when = None
    others = set(names_in(all_terms(bounds)))
    for bound, when in zip(bounds, asked, strict=True):
        bound.when = when if when is not None and set(terms.names(when)) & others else None


def _is_setting(
    symbol: Symbol, scalar: Scalar, bounds: Sequence[Bound], held: Collection[str]
) -> bool:
    """Whether an integer that no array and no grid depends on is small; where nobody knows its
    value or any array's size, whether it is a struct's and no parameter of its own."""
    if symbol.value is not None:
        return symbol.value < LEAST_SIZE
    return bool(held) or not any(
        scalar.name == one.name for b in bounds for one in b.signature.parameters
    )


def _once(bounds: Sequence[Bound], name: str) -> bool:
    """Whether one parameter alone is given the symbol, in the only launch there is."""
    taking = {s.name for b in bounds for s in scalars(b.arguments) if s.term == Sym(name)}
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
    return GUESSED_SETTING if value is None else int(value)


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
            return replace(one, term=Sym(word))

        bound.arguments = [named(one) for one in bound.arguments]
