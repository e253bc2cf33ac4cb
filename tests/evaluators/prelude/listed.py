"""The list of names that every backend has, compiled many at once and run one by one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import yaml

from evaluators.acceptance.launching import DEADLINE_S, kernel, launch, plan
from evaluators.device import Compiled, Compiler, Device, Session
from evaluators.evaluation import Rejected
from evaluators.kernel.plan import LaunchStep

FOLDER = Path(__file__).with_name("names")
THREADS = 128
SEEN = 5
"""The thread whose values are looked at."""
MOST = 16
"""Values of a name; its kernel has as many doubles to put them into."""
WORK_BYTES = 64
"""Zeros of a kernel's own, to work on."""
RELATIVE = 2e-6
"""Of a function in float32; more where a list says so by fewer digits."""

ARRAYS: Mapping[str, np.ndarray[Any, Any]] = {
    "floats": np.array([0.5, 1.5, 2.5, 3.5], np.float32),
    "ints": np.array([10, 11, 12, 13], np.int32),
    "doubles": np.array([20, 21], np.float64),
    "halves": np.array([1, 2], np.float16),
    "brains": np.array([1, 2], ml_dtypes.bfloat16),
}
PARAMETERS = (
    "double *outs, const float *floats, const int *ints, const double *doubles, "
    "const void *halves, const void *brains, char *works"
)
HEAD = f"""namespace cg = cooperative_groups;
#define put(...) {{ double seen = (double)(__VA_ARGS__); \\
    if (threadIdx.x == {SEEN}) out[at] = seen; ++at; }}
"""
_LOCATED = (
    re.compile(r"^kernel\.hip[:(](?P<line>\d+)\)?(?::\d+)?: (?:fatal )?error: (?P<said>.*)$", re.M),
    re.compile(
        r"^\S+: (?:fatal )?error: (?P<said>.*)\n(?:(?!.*error: ).*\n)*?.*"
        r"kernel\.hip[:(](?P<line>\d+)",
        re.M,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """One entry of the list. code: statements that put() values; wanted: what they are.

    narrow: the same where warps have 32 lanes; empty: it is not there.
    """

    group: str  # file/group: what one kernel holds
    name: str
    code: str
    wanted: tuple[float, ...]
    narrow: tuple[float, ...]

    @property
    def label(self) -> str:
        return f"{self.group}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a backend makes of the list. refused: what its compiler says of a name, by label."""

    names: tuple[Name, ...]
    compiled: Compiled
    refused: Mapping[str, str]


def names(file: str = "*", *, lanes: int = 64) -> tuple[Name, ...]:
    """Those for wavefronts of so many lanes."""
    listed = tuple(_read(file))
    if lanes == 64:
        return listed
    return tuple(replace(name, wanted=name.narrow) for name in listed if name.narrow)


def _read(file: str) -> Iterator[Name]:
    for path in sorted(FOLDER.glob(f"{file}.yaml")):
        for group, entries in yaml.safe_load(path.read_text()).items():
            for name, (code, *values) in entries.items():
                wanted = tuple(value for value in values if not isinstance(value, dict))
                narrow = values[-1][32] if isinstance(values[-1], dict) else wanted
                assert 0 < len(wanted) <= MOST, name
                yield Name(
                    group=f"{path.stem}/{group}",
                    name=name,
                    code=code,
                    wanted=wanted,
                    narrow=tuple(narrow),
                )


def make(compiler: Compiler, listed: Sequence[Name]) -> Made:
    """Compiles them together; those that a compiler refuses are left out, and it is asked again."""
    refused: dict[str, str] = {}
    left = list(listed)
    while True:
        rows = [*_rows(left)]
        source = kernel(HEAD + "\n".join(text for text, _ in rows), options=("-O1",))
        first = source.code_line + 1 + HEAD.count("\n")
        try:
            compiled = compiler.compile(source, [plan(*map(_step, range(len(_groups(left)))))])
        except Rejected as rejected:
            places = {first + i: name for i, (_, name) in enumerate(rows) if name is not None}
            found = {name: said for line, said in _located(rejected) if (name := places.get(line))}
            if not found:
                raise
            refused |= {name.label: said for name, said in found.items()}
            left = [name for name in left if name not in found]
        else:
            return Made(names=tuple(left), compiled=compiled, refused=refused)


def _groups(listed: Sequence[Name]) -> list[str]:
    return list(dict.fromkeys(name.group for name in listed))


def _rows(listed: Sequence[Name]) -> Iterator[tuple[str, Name | None]]:
    """A kernel for each group, a line for each name."""
    for number, group in enumerate(_groups(listed)):
        yield f"__global__ void k{number}({PARAMETERS}) {{", None
        for i, name in enumerate(listed):
            if name.group == group:
                own = f"double *const out = outs + {MOST * i}; char *const work = works + "
                yield f"{{ int at = 0; {own}{WORK_BYTES * i}; {name.code} }}", name
        yield "}", None


def _step(number: int) -> LaunchStep:
    return launch(f"k{number}", ["outs", *ARRAYS, "works"], block=(THREADS, 1, 1))


def _located(rejected: Rejected) -> list[tuple[int, str]]:
    """Lines, and what is said of them."""
    said = [(int(m["line"]), m["said"]) for one in _LOCATED for m in one.finditer(rejected.log)]
    return said if rejected.line is None else [*said, (rejected.line, rejected.reason)]


def wrong(device: Device, made: Made, **options: Any) -> dict[str, str]:
    """By label, what a name gives in place of what the list says. options: see Device.open."""
    with device.open(made.compiled, memory_bytes=64 << 20, **options) as session:
        return _wrong(session, made)


def _wrong(session: Session, made: Made) -> dict[str, str]:
    count = len(made.names)
    arrays = {
        "outs": np.full(count * MOST, np.nan),
        **ARRAYS,
        "works": np.zeros(count * WORK_BYTES, np.uint8),
    }
    buffers = {name: session.alloc(array.nbytes) for name, array in arrays.items()}
    for name, array in arrays.items():
        session.write(buffers[name], array)
    failed = {}
    for number, group in enumerate(_groups(made.names)):
        try:
            session.run(plan(_step(number)), buffers, deadline_s=DEADLINE_S)
        except Rejected as rejected:
            failed[group] = str(rejected)
    outs = session.read(buffers["outs"], np.dtype(np.float64), (count, MOST))
    for out, one in zip(outs, made.names, strict=True):
        wanted = np.full(MOST, np.nan)
        wanted[: len(one.wanted)] = one.wanted
        if not np.allclose(out, wanted, rtol=RELATIVE, atol=1e-7, equal_nan=True):
            failed.setdefault(one.label, f"{out[: len(one.wanted)].tolist()}, not {one.wanted}")
    return failed
