"""Which kernels of a program make up one problem."""

from collections.abc import Sequence

from evaluators.authoring.program.arguments import pointers
from evaluators.authoring.program.binding import Binder
from evaluators.authoring.program.circumstances import is_reached
from evaluators.authoring.program.host import Host
from evaluators.authoring.program.launches import Call
from evaluators.authoring.program.reading import Reader
from evaluators.tasks.arguments import TaskError


def chosen_calls(
    host: Host, calls: Sequence[Call], wanted: Sequence[str], source: str
) -> list[Call | str]:
    """The launches that make up the problem; a name alone for a kernel that is never launched."""
    if not host.kernels:
        raise TaskError(
            f"{source}: no __global__ function was found (one made by a macro is not seen): "
            "write the kernel out, or start from new-task without --from-kernel"
        )
    for name in wanted:
        if name not in host.kernels:
            known = ", ".join(host.kernels)
            raise TaskError(f"{source}: has no kernel {name!r}: its kernels are {known}")
    reader = Reader(host)
    launched = [one for one in calls if one.kernel in host.kernels and is_reached(one, reader)]
    names = list(wanted) or list(dict.fromkeys(one.kernel for one in launched)) or [*host.kernels]
    if len(names) > 1 and not wanted and not _belong_together(host, launched):
        raise TaskError(
            f"{source}: has {len(names)} kernels that are no steps of one computation "
            f"({', '.join(names)}): name the one to take, --kernel {names[0]}, or each step in turn"
        )
    found: list[Call | str] = []
    for name in names:
        own = [one for one in launched if one.kernel == name]
        found += _distinct(own) if own else [name]
    order = {id(one): i for i, one in enumerate(calls)}
    if all(isinstance(one, Call) for one in found):
        found.sort(key=lambda one: order[id(one)])
    return found


def _distinct(calls: Sequence[Call]) -> list[Call]:
    """Without launches that were made before, such as those that warm up, and other sizes'."""
    made: list[Call] = []
    for one in calls:
        same = [m for m in made if m.given == one.given and m.dims == one.dims]
        elsewhere = made and (
            one.frame is None
            or made[0].frame is None
            or (one.frame.function is not made[0].frame.function)
        )
        if not same and not elsewhere:
            made.append(one)
    return made


def _belong_together(host: Host, calls: Sequence[Call]) -> bool:
    """Whether one host function launches them all, and each but the first uses what one before it
    has written."""
    if not calls or len({one.frame.key if one.frame else "" for one in calls}) > 1:
        return False
    binder = Binder(host)
    written: set[str] = set()
    for place, bound in enumerate(map(binder.bound, calls)):
        own = [*pointers(bound.arguments)]
        reads = {p.memory.key for p in own if p.parameter.read}
        if place and not reads & written:
            return False
        written |= {p.memory.key for p in own if p.parameter.written}
    return True
