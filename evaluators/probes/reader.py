"""The key probe of a probe file's front matter: its YAML, validated."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from evaluators.evaluation import Rejected
from evaluators.expression import Expression, ExpressionError, parse_expression
from evaluators.kernel.front_matter import Place, invalid, load_front_matter
from evaluators.kernel.normalise import LINE_END
from evaluators.kernel.parameter_names import may_name_parameter
from evaluators.lined_yaml import LinedDict, Reader
from evaluators.spelling import printable
from evaluators.tasks.arguments import DTYPES

FILE_KEYS = ("launches", "params", "options", "probe")
"""Of a probe file's front matter: the others tune or prepare a kernel, which a probe is not."""

KEYS = ("question", "buffers", "cases", "baseline", "per", "bytes", "show")
BUFFER_KEYS = ("dtype", "elements", "fill")

Fill = Literal["zero", "one", "iota", "random"]
FILLS: tuple[Fill, ...] = ("zero", "one", "iota", "random")

MAX_QUESTION = 200
MAX_BUFFERS = 8
MAX_CASES = 16
MAX_NAMES = 8
MAX_SHOWN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeBuffer:
    """What one buffer holds before a case runs. random: uniform in [0, 1), integers below 1024."""

    dtype: str
    elements: Expression
    fill: Fill


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFrontMatter:
    """What stands under the key probe. Expressions are parsed, not yet evaluated.

    cases: the values of params and dimensions to run with, one launch plan each. baseline: what
    differs in the run whose time is taken off. per, bytes: operations, or bytes moved, of one
    run, which its time is divided by; at most one of them. show: elements by buffer.
    lines: of the keys, in the file.
    """

    question: str
    buffers: Mapping[str, ProbeBuffer]
    cases: tuple[Mapping[str, int], ...]
    baseline: Mapping[str, int]
    per: Expression | None
    bytes: Expression | None
    show: Mapping[str, int]
    lines: Mapping[str, int]


def read_probe(tree: LinedDict, params: Mapping[str, int], first_line: int) -> ProbeFrontMatter:
    """tree: the front matter, whose line 1 is the file's first_line. Raises Rejected(INVALID)."""
    return _ProbeReader(params, first_line - 1).read(tree)


def without_probe(text: str, place: Place, tree: LinedDict) -> str:
    """The file with blanks in place of the lines of its key probe. Raises Rejected(INVALID)."""
    first = tree.lines["probe"]
    last = min((line for line in tree.lines.values() if line > first), default=None)
    yaml_text = text[place.start : place.end]
    starts = [0, *(end.end() for end in LINE_END.finditer(yaml_text)), len(yaml_text)]
    begin = starts[first - 1]
    end = starts[last - 1] if last is not None else len(yaml_text)
    blank = "".join(sign if sign in "\r\n" else " " for sign in yaml_text[begin:end])
    rest = text[: place.start + begin] + blank + text[place.start + end :]
    if load_front_matter(rest, place) != {key: tree[key] for key in tree if key != "probe"}:
        raise invalid(
            "'probe' and the other keys of the front matter stand on lines of their own",
            place.line + first - 1,
        )
    return rest


class _ProbeReader(Reader):
    """Every complaint carries the line in the file."""

    def __init__(self, params: Mapping[str, int], offset: int) -> None:
        self.params = params
        self.offset = offset

    def fail(self, reason: str, line: int) -> Rejected:
        return invalid(reason, line + self.offset)

    def read(self, whole: LinedDict) -> ProbeFrontMatter:
        tree = self.mapping(whole, "probe")
        self.known_keys(tree, KEYS, where="in probe", required=("question",))
        buffers = self.buffers(self.mapping(tree, "buffers"))
        cases = self.cases(tree)
        if "per" in tree and "bytes" in tree:
            raise self.fail("probe: give 'per' or 'bytes', not both", tree.lines["bytes"])
        return ProbeFrontMatter(
            question=self.question(tree),
            buffers=buffers,
            cases=cases,
            baseline=self.baseline(tree, cases),
            per=self.formula(tree, "per", cases),
            bytes=self.formula(tree, "bytes", cases),
            show=self.show(self.mapping(tree, "show"), buffers),
            lines={key: line + self.offset for key, line in tree.lines.items()},
        )

    def question(self, tree: LinedDict) -> str:
        text, line = tree["question"], tree.lines["question"]
        if not isinstance(text, str) or not text.strip():
            raise self.fail("probe: 'question' must be a sentence", line)
        if len(text) > MAX_QUESTION:
            raise self.fail(
                f"probe: a question of {len(text)} characters is too long (limit {MAX_QUESTION})",
                line,
            )
        return printable(" ".join(text.split()))

    def buffers(self, tree: LinedDict) -> dict[str, ProbeBuffer]:
        if len(tree) > MAX_BUFFERS:
            raise self.fail(
                f"probe: 'buffers' has {len(tree)} entries (limit {MAX_BUFFERS})", tree.line
            )
        return {name: self.buffer(name, value, tree.lines[name]) for name, value in tree.items()}

    def buffer(self, name: str, value: Any, line: int) -> ProbeBuffer:
        if not may_name_parameter(name) or name in self.params:
            what = "is a parameter" if name in self.params else "cannot be a buffer's name"
            raise self.fail(f"probe: buffers: {name!r} {what}", line)
        if not isinstance(value, LinedDict):
            raise self.fail(
                f"probe: buffers: {name} needs {{dtype: float32, elements: 'N', fill: iota}}", line
            )
        self.known_keys(value, BUFFER_KEYS, where=f"in buffer {name}", required=("elements",))
        dtype = value.get("dtype", "float32")
        fill = value.get("fill", "zero")
        return ProbeBuffer(
            dtype=self.one_of(dtype, DTYPES, f"buffer {name}: dtype", value.line_of("dtype")),
            elements=self.expression(value["elements"], f"buffer {name}: elements", line),
            fill=cast(
                Fill, self.one_of(fill, FILLS, f"buffer {name}: fill", value.line_of("fill"))
            ),
        )

    def cases(self, tree: LinedDict) -> tuple[dict[str, int], ...]:
        if "cases" not in tree:
            return ({},)
        found: list[dict[str, int]] = []
        for value, line in self.sequence(tree, "cases", least=1, most=MAX_CASES).numbered():
            case = self.values(value, "cases", line)
            if found and case.keys() != found[0].keys():
                raise self.fail(
                    f"probe: cases: every case has the same names; the first has "
                    f"{', '.join(found[0])}, this one {', '.join(case)}",
                    line,
                )
            found.append(case)
        return tuple(found)

    def baseline(self, tree: LinedDict, cases: tuple[Mapping[str, int], ...]) -> dict[str, int]:
        if "baseline" not in tree:
            return {}
        values = self.values(tree["baseline"], "baseline", tree.lines["baseline"])
        for name in values:
            if name not in self.params and name not in cases[0]:
                raise self.fail(
                    f"probe: baseline: {name!r} is neither in params nor in cases",
                    tree.lines["baseline"],
                )
        return values

    def values(self, tree: Any, what: str, line: int) -> dict[str, int]:
        if not isinstance(tree, LinedDict) or not 1 <= len(tree) <= MAX_NAMES:
            raise self.fail(
                f"probe: {what}: give 1 to {MAX_NAMES} names and values, as in {{STRIDE: 2}}", line
            )
        for name, value in tree.items():
            if not may_name_parameter(name):
                raise self.fail(f"probe: {what}: {name!r} cannot name a parameter", line)
            if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**31:
                raise self.fail(
                    f"probe: {what}: {name} must be a 32-bit integer, not {value!r}", line
                )
        return dict(tree)

    def formula(
        self, tree: LinedDict, key: str, cases: tuple[Mapping[str, int], ...]
    ) -> Expression | None:
        if key not in tree:
            return None
        found = self.expression(tree[key], key, tree.lines[key])
        for name in sorted(found.names - self.params.keys() - cases[0].keys()):
            raise self.fail(
                f"probe: {key}: {name!r} is neither in params nor in cases", tree.lines[key]
            )
        return found

    def show(self, tree: LinedDict, buffers: Mapping[str, ProbeBuffer]) -> dict[str, int]:
        for name, count in tree.items():
            line = tree.lines[name]
            if name not in buffers:
                raise self.fail(f"probe: show: {name!r} is not in buffers", line)
            whole = isinstance(count, int) and not isinstance(count, bool)
            if not whole or not 1 <= count <= MAX_SHOWN:
                raise self.fail(
                    f"probe: show: {name} needs 1 to {MAX_SHOWN} elements, not {count!r}", line
                )
        return dict(tree)

    def expression(self, value: Any, what: str, line: int) -> Expression:
        try:
            return parse_expression(value)
        except ExpressionError as error:
            raise self.fail(f"probe: {what}: {error}", line) from None
