"""What the compiler's failure says of a kernel: a verdict in the words and lines of its file."""

import re
from collections.abc import Iterable

from evaluators.cpu.emit import ENGINE
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.porting.header_assertions import asserted
from evaluators.kernel.tokens import KERNEL_FILE
from evaluators.sandbox.run import Finished

_ERROR = re.compile(
    r"^(kernel\.hip|launches):(\d+)(?::\d+)?: (?:fatal )?error: (.*)$", re.MULTILINE
)
_ERROR_IN_MACRO = re.compile(
    r"^\S+: error: (?P<message>.*)$(?:\n(?!.*: error: ).*)*?\n(?P<file>kernel\.hip):(?P<line>\d+)",
    re.MULTILINE,
)
"""In a macro of our headers: where the kernel expands it comes in a note."""
_NO_KERNEL = re.compile(r"'ks_block_(\w+)' was not declared")
_KILLED = re.compile(
    rb"(?:Killed|CPU time limit exceeded) signal terminated program"
    rb"|unable to execute command: (?:Killed|CPU time limit exceeded)"
)
"""What drivers say of a compiler that a limit ended: the text as written would last as long."""
_DESTRUCTOR = b"__dso_handle"
"""What compilers name to have a global object's destructor run; see abi.html of Itanium C++."""


def compile_failure(done: Finished, log: str, compiler: str, kernels: Iterable[str]) -> Rejected:
    """compiler: its name; log: what is shown of its messages; kernels: what was to be launched."""
    if refused := asserted(log):
        return refused
    if found := _ERROR.search(log):
        file, line, message = found.groups()
    elif found := _ERROR_IN_MACRO.search(log):
        message, file, line = found.groups()
    elif _KILLED.search(done.stderr):
        return Rejected(Status.TIMEOUT, "compiling took too much time or memory", log=log)
    elif _DESTRUCTOR in done.stderr:
        reason = "a global object's destructor would run behind all launches: give it none"
        return Rejected(Status.FORBIDDEN, reason)
    else:
        how = f"was killed by signal {done.signal}" if done.signal else "failed"
        first = log.partition("\n")[0] or "it said nothing that points at the kernel"
        return Rejected(Status.COMPILE_ERROR, f"{compiler} {how}: {first}", log=log)
    if file == KERNEL_FILE:
        return Rejected(Status.COMPILE_ERROR, message, log=log, line=int(line))
    names = ", ".join(dict.fromkeys(kernels))
    return Rejected(Status.COMPILE_ERROR, f"launching {names}: {message}", log=log)


def not_translated(rejected: Rejected, last_line: int) -> Rejected:
    """The verdict on a kernel that compiles as it is written, but not as it was translated.

    last_line: of its file; in the translation's own lines, lines beyond it are counted too.
    """
    if rejected.status is Status.UNSUPPORTED:
        return rejected
    if found := _NO_KERNEL.search(rejected.reason):
        return Rejected(Status.COMPILE_ERROR, f"{found[1]} is no kernel: is it __global__?")
    line = rejected.line if rejected.line is not None and rejected.line <= last_line else None
    what = "can't run this: it compiles as written, but not as it is translated for cpu"
    return Rejected(Status.UNSUPPORTED, f"{ENGINE} {what}", line=line)
