"""The child side of sandbox.run_confined: limits itself, starts the command, dies with its parent.

Started with `python -I -S`, twice for every compilation: it may import the standard library and
landlock.py only, and imports little (pathlib and typing would double what it takes).

    main() of: PARENT FILE_BYTES MEMORY_BYTES CPU_S NETWORK READS WRITES COMMAND...

READS, WRITES: folders and files that the command may read, or do everything with, with colons
between. READS "-": all files are open to it.
"""

import ctypes
import errno
import os
import resource
import struct
import sys

from evaluators.sandbox import landlock

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the same without enum, which takes a fifth of what this file does

ALL_FILES = "-"
PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_ALLOW = 0x7FFF0000
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_KILL_PROCESS = 0x80000000

# machine -> AUDIT_ARCH value, and the numbers of the calls that are refused: what opens a
# connection (io_uring can, unseen by a filter), and what reaches into other processes.
DENIED: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41,
            "socketpair": 53,
            "ptrace": 101,
            "mount": 165,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "unshare": 272,
            "perf_event_open": 298,
            "setns": 308,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "bpf": 321,
            "userfaultfd": 323,
            "io_uring_setup": 425,
            "pidfd_getfd": 438,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "mount": 40,
            "unshare": 97,
            "ptrace": 117,
            "socket": 198,
            "socketpair": 199,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "perf_event_open": 241,
            "setns": 268,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "bpf": 280,
            "userfaultfd": 282,
            "io_uring_setup": 425,
            "pidfd_getfd": 438,
        },
    ),
}


def instruction(code: int, jump_true: int, jump_false: int, operand: int) -> bytes:
    """One struct sock_filter."""
    return struct.pack("=HBBI", code, jump_true, jump_false, operand)


def network_filter(machine: str) -> bytes:
    """A seccomp filter: the denied calls fail with EACCES, another architecture's calls kill."""
    audit_arch, calls = DENIED[machine]
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    body = [
        instruction(load, 0, 0, 4),  # seccomp_data.arch
        instruction(equal, 1, 0, audit_arch),
        instruction(give, 0, 0, SECCOMP_RET_KILL_PROCESS),
        instruction(load, 0, 0, 0),  # seccomp_data.nr
        instruction(at_least, 0, 1, 0x40000000),  # x32 numbers the same calls anew
        instruction(give, 0, 0, SECCOMP_RET_KILL_PROCESS),
    ]
    for number in calls.values():
        body.append(instruction(equal, 0, 1, number))
        body.append(instruction(give, 0, 0, SECCOMP_RET_ERRNO | errno.EACCES))
    body.append(instruction(give, 0, 0, SECCOMP_RET_ALLOW))
    return b"".join(body)


def prctl(libc: ctypes.CDLL, option: int, *values: object) -> None:
    if libc.prctl(option, *values) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def die_with_parent(libc: ctypes.CDLL, parent: int) -> None:
    """SIGKILL when the thread that started this process ends; at once when it has ended."""
    prctl(libc, PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)


def cut_network(libc: ctypes.CDLL) -> None:
    program = network_filter(os.uname().machine)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(
        struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    )
    prctl(libc, PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0)))
    prctl(libc, PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), header)


def limit(which: int, value: int) -> None:
    """Lower a limit; a hard limit that is lower already stays."""
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))


def forbid_core_dumps() -> None:
    """For a process that holds a GPU: ROCr writes all of its memory, 192 GB, before it aborts
    (amd_core_dump.cpp), which fills disks and outlasts every deadline."""
    limit(resource.RLIMIT_CORE, 0)


def die_with_group(number: int, frame: object) -> None:
    os.killpg(0, signal.SIGKILL)
    raise SystemExit(number)


def main() -> int:
    parent, file_bytes, memory_bytes, cpu_s, network = map(int, sys.argv[1:6])
    reads, writes, *command = sys.argv[6:]
    libc = ctypes.CDLL(None, use_errno=True)
    # The parent-death signal reaches this process only, not what a compiler driver starts:
    # so this one outlives the exec, and takes its whole process group along.
    signal.signal(signal.SIGTERM, die_with_group)
    prctl(libc, PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGTERM))
    if os.getppid() != parent:
        return 1
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, file_bytes)
    limit(resource.RLIMIT_CPU, cpu_s)
    limit(resource.RLIMIT_NOFILE, 256)
    if not network:
        cut_network(libc)
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        die_with_parent(libc, supervisor)
        if reads != ALL_FILES:
            landlock.restrict(reads.split(":"), writes.split(":"))
        limit(resource.RLIMIT_AS, memory_bytes)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
            os._exit(127)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(supervisor, number)
    return os.waitstatus_to_exitcode(status)
