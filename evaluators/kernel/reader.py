"""Front matter of a kernel file: its YAML, validated."""

import re
from collections.abc import Mapping
from typing import Any

from evaluators.device_info import known_backends
from evaluators.dtypes import DTYPES, SCALARS, is_floating
from evaluators.evaluation import Rejected
from evaluators.expression import RESERVED_NAMES, Expression, ExpressionError, parse_expression
from evaluators.kernel.front_matter import (
    Arg,
    FrontMatter,
    Launch,
    Memset,
    StructArg,
    ValueArg,
    Variant,
    invalid,
)
from evaluators.kernel.parameter_names import may_name_dtype, may_name_parameter
from evaluators.kernel.plan import Null
from evaluators.lined_yaml import LinedDict, LinedList, Reader

OPTIONS = frozenset(
    {
        "-O1",
        "-O2",
        "-O3",
        "-ffast-math",
        "-fno-fast-math",
        "-ffp-contract=fast",
        "-ffp-contract=on",
        "-ffp-contract=off",
        "-funroll-loops",
        "-fno-unroll-loops",
        "-fno-strict-aliasing",
        "-munsafe-fp-atomics",
        "-fgpu-flush-denormals-to-zero",
    }
)
"""Compiler flags a kernel may ask for; a backend leaves out those its compiler lacks."""

KEYS = (
    *("launches", "prepare", "scratch", "params", "space", "constraints", "variants"),
    *("specialize", "options", "backends"),
)
LAUNCH_KEYS = ("kernel", "grid", "block", "lds_bytes", "args", "when", "repeat", "cooperative")
MAX_LAUNCHES = 32
MAX_ARGS = 64
MAX_SPACE_VALUES = 64
MAX_KERNEL_NAME = 200

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_KERNEL_NAME = re.compile(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*(<[\w ,:<>*+\-\n]*>)?", re.ASCII)


def read_front_matter(tree: Any, first_line: int) -> FrontMatter:
    """Validate a loaded YAML tree whose line 1 is the file's first_line. Raises Rejected."""
    return _FrontMatterReader(first_line - 1).read(tree)


class _FrontMatterReader(Reader):
    """Turns the tree into a FrontMatter; every complaint carries the line in the file."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def fail(self, reason: str, line: int) -> Rejected:
        return invalid(reason, line + self.offset)

    def read(self, tree: Any) -> FrontMatter:
        if not isinstance(tree, LinedDict):
            raise self.fail("the front matter must be a mapping with the key 'launches'", 1)
        self.known_keys(tree, KEYS, where="in the front matter", required=("launches",))
        params = self.params(self.mapping(tree, "params"), "params")
        return FrontMatter(
            launches=self.steps(tree, "launches"),
            prepare=self.steps(tree, "prepare"),
            scratch=self.scratch(self.mapping(tree, "scratch")),
            params=params,
            space=self.space(self.mapping(tree, "space"), params),
            constraints=self.constraints(tree, params),
            variants=self.variants(tree, params),
            specialize=self.names(tree, "specialize"),
            options=self.options(tree),
            backends=self.backends(tree),
            lines={key: line + self.offset for key, line in tree.lines.items()},
        )

    def expression(self, value: Any, what: str, line: int, *, floats: bool = False) -> Expression:
        try:
            return parse_expression(value, floats=floats)
        except ExpressionError as error:
            raise self.fail(f"{what}: {error}", line) from None

    def names(self, tree: LinedDict, key: str) -> tuple[str, ...]:
        sequence = self.sequence(tree, key, most=16)
        for name, line in sequence.numbered():
            if not (isinstance(name, str) and _IDENTIFIER.fullmatch(name)):
                raise self.fail(f"{key}: {name!r} is not a name", line)
        return tuple(dict.fromkeys(sequence))

    def params(self, tree: LinedDict, where: str) -> dict[str, int]:
        if len(tree) > 64:
            raise self.fail(f"{where!r} has {len(tree)} entries (limit 64)", tree.line)
        for name, value in tree.items():
            line = tree.lines[name]
            if not may_name_parameter(name):
                raise self.fail(
                    f"{where}: {name!r} cannot be a parameter (letters, digits and _, no word of "
                    "C++ or HIP, nor a name that the harness defines)",
                    line,
                )
            self.integer(value, f"{where}: {name}", line)
        return dict(tree)

    def integer(self, value: Any, what: str, line: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**31:
            raise self.fail(f"{what} must be a 32-bit integer, not {value!r}", line)
        return value

    def space(self, tree: LinedDict, params: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        space: dict[str, tuple[int, ...]] = {}
        for name, values in tree.items():
            line = tree.lines[name]
            if name not in params:
                raise self.fail(f"space: {name!r} is not in params", line)
            if not isinstance(values, LinedList) or not 1 <= len(values) <= MAX_SPACE_VALUES:
                raise self.fail(f"space: {name} needs a list of 1 to {MAX_SPACE_VALUES}", line)
            space[name] = tuple(
                dict.fromkeys(self.integer(v, f"space: {name}", line) for v in values)
            )
        return space

    def scratch(self, tree: LinedDict) -> dict[str, Expression]:
        for name in tree:
            if not _IDENTIFIER.fullmatch(name) or name in RESERVED_NAMES:
                raise self.fail(f"scratch: {name!r} is not a name", tree.lines[name])
        return {
            name: self.expression(value, f"scratch: {name}", tree.lines[name])
            for name, value in tree.items()
        }

    def constraints(self, tree: LinedDict, params: Mapping[str, int]) -> tuple[Expression, ...]:
        sequence = self.sequence(tree, "constraints", most=32)
        found = []
        for value, line in sequence.numbered():
            constraint = self.expression(value, "constraints", line)
            for name in sorted(constraint.names - params.keys()):
                raise self.fail(f"constraints: {name!r} is not in params", line)
            found.append(constraint)
        return tuple(found)

    def variants(self, tree: LinedDict, params: Mapping[str, int]) -> tuple[Variant, ...]:
        found = []
        sequence = self.sequence(tree, "variants", most=32)
        for value, line in sequence.numbered():
            if not isinstance(value, LinedDict) or set(value) != {"when", "params"}:
                raise self.fail("a variant has the keys 'when' and 'params', no others", line)
            changed = self.params(self.mapping(value, "params"), "variants: params")
            for name in changed:
                if name not in params:
                    raise self.fail(f"variants: {name!r} is not in params", line)
            when = self.expression(value["when"], "variants: when", line)
            found.append(Variant(when=when, params=changed, line=line + self.offset))
        return tuple(found)

    def options(self, tree: LinedDict) -> tuple[str, ...]:
        sequence = self.sequence(tree, "options", most=16)
        for option, line in sequence.numbered():
            if not isinstance(option, str) or option not in OPTIONS:
                raise self.fail(
                    f"option {option!r} is not allowed (allowed: {' '.join(sorted(OPTIONS))})", line
                )
        return tuple(dict.fromkeys(sequence))

    def backends(self, tree: LinedDict) -> tuple[str, ...]:
        sequence = self.sequence(tree, "backends", least="backends" in tree)
        for name, line in sequence.numbered():
            self.one_of(name, known_backends(), "backends:", line)
        return tuple(dict.fromkeys(sequence))

    def steps(self, tree: LinedDict, key: str) -> tuple[Launch | Memset, ...]:
        sequence = self.sequence(tree, key, most=MAX_LAUNCHES)
        steps = tuple(self.step(value, line) for value, line in sequence.numbered())
        if key == "launches" and not any(isinstance(step, Launch) for step in steps):
            raise self.fail("'launches' needs at least one entry with 'kernel'", tree.lines[key])
        return steps

    def step(self, tree: Any, line: int) -> Launch | Memset:
        if not isinstance(tree, LinedDict):
            raise self.fail("a launch must be a mapping", line)
        if "memset" in tree:
            return self.memset(tree, line)
        self.known_keys(tree, LAUNCH_KEYS, where="in a launch")
        for key in ("kernel", "grid", "block", "args"):
            if key not in tree:
                raise self.fail(f"a launch needs the key {key!r}", line)
        kernel = tree["kernel"]
        if not isinstance(kernel, str) or not _KERNEL_NAME.fullmatch(kernel):
            raise self.fail(f"{kernel!r} is not a kernel's name", tree.lines["kernel"])
        if len(kernel) > MAX_KERNEL_NAME:
            raise self.fail(
                f"a kernel's name of {len(kernel)} characters is too long (limit "
                f"{MAX_KERNEL_NAME})",
                tree.lines["kernel"],
            )
        cooperative = tree.get("cooperative", False)
        if not isinstance(cooperative, bool):
            raise self.fail("'cooperative' must be true or false", tree.lines["cooperative"])
        return Launch(
            kernel=kernel,
            grid=self.dim3(tree, "grid"),
            block=self.dim3(tree, "block"),
            args=self.args(tree),
            lds_bytes=self.optional(tree, "lds_bytes", 0),
            when=self.optional(tree, "when", 1),
            repeat=self.repeat(tree),
            cooperative=cooperative,
            line=line + self.offset,
        )

    def memset(self, tree: LinedDict, line: int) -> Memset:
        self.known_keys(tree, ("memset", "when"), where="in a memset")
        body = self.mapping(tree, "memset")
        if set(body) != {"buffer", "byte"}:
            raise self.fail("memset has the keys 'buffer' and 'byte', no others", line)
        byte = body["byte"]
        if isinstance(byte, bool) or not isinstance(byte, int) or not 0 <= byte <= 255:
            raise self.fail(f"memset: byte must be 0 to 255, not {byte!r}", line)
        if not isinstance(body["buffer"], str):
            raise self.fail("memset: buffer must be a name", line)
        return Memset(
            buffer=body["buffer"],
            byte=byte,
            when=self.optional(tree, "when", 1),
            line=line + self.offset,
        )

    def optional(self, tree: LinedDict, key: str, default: int) -> Expression:
        return self.expression(tree.get(key, default), key, tree.line_of(key))

    def dim3(self, tree: LinedDict, key: str) -> tuple[Expression, ...]:
        value, line = tree[key], tree.lines[key]
        parts = value if isinstance(value, LinedList) else [value]
        if not 1 <= len(parts) <= 3:
            raise self.fail(f"{key!r} needs one to three expressions", line)
        return tuple(self.expression(part, key, line) for part in parts)

    def args(self, tree: LinedDict) -> tuple[Arg, ...]:
        return self.given(self.sequence(tree, "args", most=MAX_ARGS))

    def given(self, sequence: LinedList) -> tuple[Arg, ...]:
        return tuple(self.arg(value, line) for value, line in sequence.numbered())

    def arg(self, value: Any, line: int) -> Arg:
        if value is None:
            return Null()
        if isinstance(value, str) and _IDENTIFIER.fullmatch(value):
            return value
        if isinstance(value, LinedDict) and set(value) == {"struct"}:
            return StructArg(fields=self.given(self.sequence(value, "struct", most=MAX_ARGS)))
        if not isinstance(value, LinedDict) or set(value) != {"value", "type"}:
            raise self.fail(
                f"argument {value!r} must be a name, null, {{value: expression, type: int32}} or "
                "{struct: [...]}",
                line,
            )
        return ValueArg(
            value=self.expression(value["value"], "args", line, floats=self.decimal(value, line)),
            type=value["type"],
        )

    def decimal(self, value: LinedDict, line: int) -> bool:
        """Whether a value may be no integer; so may one whose type is a parameter of the task."""
        of_type = value["type"]
        if of_type in SCALARS:
            return is_floating(DTYPES[of_type])
        if not isinstance(of_type, str) or not may_name_dtype(of_type):
            raise self.fail(
                f"type {of_type!r} is not one of {', '.join(SCALARS)}, nor a dtype parameter", line
            )
        return True

    def repeat(self, tree: LinedDict) -> tuple[str, Expression] | None:
        if "repeat" not in tree:
            return None
        body, line = self.mapping(tree, "repeat"), tree.lines["repeat"]
        if len(body) != 1 or not all(_IDENTIFIER.fullmatch(name) for name in body):
            raise self.fail("repeat needs one name and its count, as in {i: 'STEPS'}", line)
        ((name, count),) = body.items()
        return name, self.expression(count, "repeat", line)
