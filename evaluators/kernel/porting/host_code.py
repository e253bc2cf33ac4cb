"""Host code that was left in a kernel's source, told in one sentence with what to write instead."""

import re
from collections.abc import Sequence

from evaluators.kernel.porting.launch_calls import as_front_matter, launch_calls
from evaluators.kernel.tokens import Token

MOST_NAMED = 4
MOST_LAUNCHES = 3

_RUNTIME = re.compile(
    r"(?:hip|cuda)(?!(?:ThreadIdx|BlockIdx|BlockDim|GridDim)_[xyz]$|(?:Float|Double)?Complex)"
    r"[A-Z]\w+|cu(?:LaunchKernel|MemAlloc|Memcpy\w+|Module\w+|Ctx\w+|Init|Device\w+)"
)
_CHECKS = re.compile(
    r"(?i:(?:hip|cuda|gpu|nv|rocm)_?(?:check|assert|call|safe_?call|errchk|try)\w*"
    r"|(?:check|assert)_?(?:hip|cuda|gpu)\w*|gpuErr\w*)"
)
_FRAMEWORK = re.compile(r"PYBIND11_MODULE|TORCH_\w+|AT_DISPATCH\w*|TORCH_EXTENSION_NAME")
_CALLS = frozenset({"exit", "rand", "srand", "fopen", "atoi", "fprintf", "getenv", "scanf"})
_STD = frozenset(
    """
    vector string cout cerr endl chrono map unordered_map set list deque unique_ptr shared_ptr
    make_unique thread mutex ofstream ifstream ostream istream stringstream mt19937 random_device
    uniform_real_distribution uniform_int_distribution normal_distribution default_random_engine
    generate accumulate sort iota runtime_error exception to_string setw setprecision fixed
    """.split()  # noqa: SIM905 (a list of 35 lines otherwise)
)


def host_code(found: Sequence[Token]) -> tuple[str, int] | None:
    """One sentence on a source's host code and the line where that begins; None where it has none.

    found: a normalised source's tokens. What it says may be wrong of code that compiles: ask it
    about code that doesn't.
    """
    named: dict[str, int] = {}
    for i, token in enumerate(found):
        if (what := _what(found, i)) and what not in named:
            named[what] = token.line
    calls = launch_calls(found)
    for call in calls:
        named.setdefault(f"{call.name}<<<...>>>", call.line)
    if not named:
        return None
    in_order = sorted(named.items(), key=lambda one: one[1])
    line = in_order[0][1]
    told = [what if at == line else f"{what} (line {at})" for what, at in in_order]
    more = f" and {len(told) - MOST_NAMED} more" if len(told) > MOST_NAMED else ""
    listed = [as_front_matter(call, found) for call in calls[:MOST_LAUNCHES]]
    if len(calls) > MOST_LAUNCHES:
        listed.append("...")
    launches = f", as far as this can be read: launches: [{', '.join(listed)}]" if listed else ""
    return (
        f"{', '.join(told[:MOST_NAMED])}{more}: that is host code, take it out; a kernel file "
        f"holds device code only, and launches go in the front matter{launches}",
        line,
    )


def _what(found: Sequence[Token], i: int) -> str:
    """The name by which the token at a place shows that it is host code; empty for none."""
    token = found[i]
    if token.kind != "word":
        return ""
    before = found[i - 1].text if i else ""
    after = found[i + 1].text if i + 1 < len(found) else ""
    if before == ":" and i > 2 and found[i - 3].text == "std" and token.text in _STD:
        return f"std::{token.text}"
    if token.text == "main" and after == "(" and before == "int":
        return "main"
    if token.text in ("torch", "at", "c10", "thrust") and after == ":":
        return f"{token.text}::"
    if token.text == "hipLaunchKernelGGL":
        return ""  # told as a launch
    called = after == "(" and (_CHECKS.fullmatch(token.text) or token.text in _CALLS)
    known = _RUNTIME.fullmatch(token.text) or _FRAMEWORK.fullmatch(token.text)
    return token.text if called or known else ""
