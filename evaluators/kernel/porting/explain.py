"""What a kernel's author is told of code that no compiler takes, where a cause can be seen."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.front_matter import Launch
from evaluators.kernel.plan import Plan
from evaluators.kernel.porting.functions import Declared, functions, parted
from evaluators.kernel.porting.host_code import host_code
from evaluators.kernel.porting.library_names import as_written
from evaluators.kernel.porting.macro_names import declared_macro
from evaluators.kernel.source import KernelSource
from evaluators.kernel.tokens import Token, tokens
from evaluators.spelling import did_you_mean, printable

_FAILED = (Status.INVALID, Status.COMPILE_ERROR, Status.UNSUPPORTED, Status.FORBIDDEN)
_NAMELESS = (Status.COMPILE_ERROR, Status.UNSUPPORTED)


@contextmanager
def explaining(kernel: KernelSource, plans: Iterable[Plan]) -> Iterator[None]:
    """Round a compilation: a failure names its cause, the same on every backend, where one is seen.

    That is only looked for in code that failed: what compiles is right, whatever it looks like.
    """
    try:
        yield
    except Rejected as rejected:
        plans = list(plans)
        entries = dict.fromkeys(step.entry for plan in plans for step in plan.launches)
        macros = {name for plan in plans for name, _ in plan.defines}
        raise explained(rejected, kernel, entries, macros) from None


def explained(
    rejected: Rejected, kernel: KernelSource, entries: Iterable[str], macros: Collection[str] = ()
) -> Rejected:
    """The same with another sentence, or as it is. Host code is INVALID: no backend takes it.

    entries: the name expressions that are launched. macros: what is defined ahead of the code.
    """
    rejected = _with_own_names(rejected)
    if rejected.status not in _FAILED or rejected.reason.find("#include of") >= 0:
        return rejected  # which tells of host code itself
    found = list(tokens(kernel.normalised, kernel.code_line))
    if told := host_code(found):
        reason, line = told
        return Rejected(Status.INVALID, printable(reason), log=rejected.log, line=line)
    if rejected.status not in _NAMELESS:
        return rejected
    if told := declared_macro(found, macros):
        reason, line = told
        return Rejected(Status.COMPILE_ERROR, reason, log=rejected.log, line=line)
    declared = functions(found)
    for entry in entries:
        if why := why_not(entry, declared, found):
            place = _line_of(entry, kernel)
            return Rejected(Status.COMPILE_ERROR, why, log=rejected.log, line=place)
    return rejected


def _with_own_names(rejected: Rejected) -> Rejected:
    said = rejected.saying(as_written(rejected.reason))
    said.log = as_written(rejected.log)
    return said


def _line_of(entry: str, kernel: KernelSource) -> int | None:
    """Where the front matter launches it."""
    name = entry.partition("<")[0]
    steps = (*kernel.front.launches, *kernel.front.prepare)
    launches = (step for step in steps if isinstance(step, Launch))
    return next((one.line for one in launches if one.kernel.partition("<")[0] == name), None)


def why_not(kernel: str, declared: Sequence[Declared], found: Sequence[Token]) -> str:
    """Why a name expression names no kernel of those declared; empty where it may name one."""
    path, angle, rest = kernel.partition("<")
    space, _, name = path.strip().rpartition("::")
    named = [one for one in declared if one.name == name]
    kernels = [one for one in named if one.kind == "kernel"]
    if not kernels:
        return _no_kernel(name, named, declared, found)
    if not any(one.defined for one in kernels):
        return f"the kernel {name} is only declared: write its body too"
    reached = [one for one in kernels if _reached(one, space)]
    if not reached:
        full = "::".join((*kernels[0].spaces, name))
        return f"the kernel {name} stands in a namespace: write {full}{angle}{rest} in 'kernel:'"
    given = parted([*tokens(rest.rpartition(">")[0])]) if angle else []
    if rest.count("<") + 1 != rest.count(">") and angle:
        return ""  # there are comparisons
    if any(_takes(one, bool(angle), len(given)) for one in reached):
        return ""
    template = next((one.template for one in reached if one.template is not None), None)
    if template is None:
        return f"the kernel {name} is no template: write {path.strip()} without <...> in 'kernel:'"
    names = ", ".join(one.name or one.word for one in template)
    needed = ", ".join(f"{one.word} {one.name}".strip() for one in template)
    if not angle:
        return (
            f"the kernel {name} is a template <{needed}>: write {path.strip()}<{names}> in "
            "'kernel:', with a value, a parameter or a type for each"
        )
    return f"the kernel {name} is a template <{needed}>, to which 'kernel:' gives {len(given)}"


def _no_kernel(
    name: str, named: Sequence[Declared], declared: Sequence[Declared], found: Sequence[Token]
) -> str:
    if any(token.kind == "directive" and "__global__" in token.text for token in found):
        return ""  # whatever is declared by that macro
    if named:
        how = "a __device__ function" if named[0].kind == "device" else "not __global__"
        return f"{name} (line {named[0].line}) is {how}: launch a function that is __global__"
    if any(_may_make(name, token) for token in found):
        return ""  # by a macro
    known = list(dict.fromkeys(one.name for one in declared if one.kind == "kernel"))
    if not known:
        return f"the file has no kernel {name}: none of its functions is __global__"
    guess = did_you_mean(name, known)
    return f"the file has no kernel {name}{guess}: it has {', '.join(known)}"


def _may_make(name: str, token: Token) -> bool:
    return token.text == name or (
        token.kind == "directive" and ("##" in token.text or name in token.text)
    )


def _reached(one: Declared, space: str) -> bool:
    """Whether a name in a namespace, or in none, may mean it: inline ones need not be said."""
    return not one.spaces or bool(space) or any("inline" in part for part in one.spaces)


def _takes(one: Declared, angle: bool, count: int) -> bool:
    """Whether a template, or none, can be named with so many arguments."""
    if one.special:
        return True
    if one.template is None:
        return not angle
    least = sum(not parameter.optional for parameter in one.template)
    most = len(one.template) + (1000 if any(p.variadic for p in one.template) else 0)
    return angle and least <= count <= most
