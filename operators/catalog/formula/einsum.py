"""np.einsum of traced arrays."""

from typing import Any

from operators.catalog.formula.functions import elementwise, reduced
from operators.catalog.formula.node import Graph
from operators.catalog.formula.shapes import transposed
from operators.catalog.formula.traced import Traced, Untraceable, traced


def einsum(graph: Graph, subscripts: Any, *operands: Any, **_: Any) -> Traced:
    """Sums of products over the letters that the result doesn't name. Raises Untraceable."""
    if not isinstance(subscripts, str) or "." in subscripts:
        raise Untraceable("np.einsum without letters")
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    letters = sorted(set(left) - {","})
    result = right if arrow else "".join(x for x in letters if left.count(x) == 1)
    if any(len(set(term)) < len(term) for term in terms) or len(terms) != len(operands):
        raise Untraceable("np.einsum of such letters")
    order = [*result, *(x for x in letters if x not in result)]
    arrays = [
        _spread(graph, traced(graph, one), term, order)
        for one, term in zip(operands, terms, strict=True)
    ]
    product = arrays[0]
    for one in arrays[1:]:
        product = elementwise(graph, "multiply", product, one)
    summed = tuple(range(len(result), len(order)))
    return reduced(product, "sum", summed) if summed else product


def _spread(graph: Graph, array: Traced, term: str, order: list[str]) -> Traced:
    """With an axis for every letter, in order; of size one where the term has no such letter."""
    own = [x for x in order if x in term]
    turned = transposed(graph, array, *(term.index(x) for x in own)) if len(own) > 1 else array
    return turned[tuple(slice(None) if x in term else None for x in order)]
