"""Dims compiled in: loops with a known number of rounds, and divisions by known numbers."""

from collections.abc import Iterator

from evaluators.kernel.front_matter import Launch
from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.locals import LOOPS, Locals
from operators.catalog.generic.analysis.reading import (
    Function,
    Node,
    Reading,
    Unsure,
    names_in,
    walk,
)
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.front import Front

Edits = list[tuple[int, int, str]]


def specialised_dims(reading: Reading, task: Task) -> Iterator[Edit]:
    """Those that bound loops or divide indices: each by itself, and all of them."""
    telling: dict[str, None] = {}
    for function in reading.kernels:
        for name, dim in _passed(reading, function, task).items():
            if dim not in reading.kernel.specialize and _tells(function, name):
                telling[dim] = None
    groups = [[one] for one in telling] + ([[*telling]] if len(telling) > 1 else [])
    for dims in groups:
        try:
            edits = _edits(reading, task, set(dims))
            front = Front(reading.kernel)
            front.specialize += dims
            yield Edit(place={"dims": " ".join(dims)}, text=front.written(reading.code(edits)))
        except Unsure:
            continue


def _passed(reading: Reading, function: Function, task: Task) -> dict[str, str]:
    """Parameter -> the dim that every launch hands in there."""
    found: dict[str, str] = {}
    launches = reading.launched[function.name]
    for place, parameter in enumerate(function.parameters):
        given = {_given(launch, place) for launch in launches}
        dim = given.pop() if len(given) == 1 else None
        if dim is not None and dim in task.dims and not parameter.pointer:
            found[parameter.name] = dim
    return found


def _given(launch: Launch, place: int) -> str | None:
    one = launch.args[place] if place < len(launch.args) else None
    return one if isinstance(one, str) else None


def _tells(function: Function, name: str) -> bool:
    """Whether a loop is bounded by it, or an index divided by it."""
    for node in walk(function.body):
        if node.type in LOOPS:
            condition = node.child_by_field_name("condition")
            if condition is not None and name in names_in(condition):
                return True
        if node.type == "binary_expression":
            operator = node.child_by_field_name("operator").type
            if operator in ("/", "%") and name in names_in(node.child_by_field_name("right")):
                return True
    return False


def _edits(reading: Reading, task: Task, dims: set[str]) -> Edits:
    """Raises Unsure: a dim's name stands for something else that can't be renamed."""
    found: Edits = []
    named = {one.name: one for one in reading.functions.values()}
    done: set[tuple[int, int]] = set()
    for function in named.values():
        found += _in_function(reading, task, function, dims)
        done.add((function.node.start_byte, function.node.end_byte))
    for node in walk(reading.root):
        if node.child_count or node.text.decode() not in dims:
            continue
        within = any(start <= node.start_byte < end for start, end in done)
        if not within or node.type not in ("identifier", "type_identifier"):
            raise Unsure
    for row in reading.kernel.code.splitlines():
        if row.lstrip().startswith("#") and dims & set(row.replace("(", " ").split()):
            raise Unsure
    return found


def _in_function(reading: Reading, task: Task, function: Function, dims: set[str]) -> Edits:
    locals = Locals(reading, function)
    launched = function.name in reading.launched
    passed = _passed(reading, function, task) if launched else {}
    passed = {name: dim for name, dim in passed.items() if dim in dims and not locals.changes(name)}
    own = {one.name for one in function.parameters} | {one.name for one in locals.declared.values()}
    edits: Edits = []
    for node in _leaves(function.node):
        name = node.text.decode()
        if name not in own and name not in passed:
            continue
        parameter = name in passed and locals.key(node) == name
        if parameter and node.start_byte < function.body.start_byte:
            edits.append((node.start_byte, node.end_byte, reading.free_name(f"{name}_given")))
        elif parameter and name != passed[name]:
            edits.append((node.start_byte, node.end_byte, passed[name]))
        elif name in dims and not parameter:
            edits.append((node.start_byte, node.end_byte, reading.free_name(f"{name}_own")))
    return edits


def _leaves(node: Node) -> Iterator[Node]:
    return (one for one in walk(node) if one.type in ("identifier", "type_identifier"))
