"""A kernel file as one Python file with custom_kernel(), for GPU MODE's judge of kernels."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluators.evaluation import Rejected, Status
from evaluators.export.builds import pinning
from evaluators.export.cpp_expression import dtype_code
from evaluators.export.header import cpp_header, environment, header_name, shape_fields
from evaluators.kernel.source import KernelSource
from evaluators.tasks.task import Task, TaskError, read_text

FILE = "submission.py"
"""Of a task's folder: how the judge's data become the task's arguments."""

BACKEND = "hip"
REFUSED = "stream"
"""The judge takes no file with this word in it, in whatever place and case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A task's submission.py, whose unpack() the exported file calls.

    leaderboard, gpu: as the judge calls them. changing: sizes that differ from call to call.
    code: all of the file but its docstring.
    """

    leaderboard: str
    gpu: str
    changing: tuple[str, ...]
    code: str


def form_of(task: Task) -> Form:
    """Raises TaskError where the task has none, or its file doesn't say what it must."""
    path = task.folder / FILE
    if not path.is_file():
        raise TaskError(
            f"the task {task.name} has no {FILE}, which says how a judge gives its arguments: "
            "export its kernels as headers"
        )
    text = read_text(path)
    tree = _parsed(path, text)
    said = dict(_constants(tree))
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if "unpack" not in defined or not {"LEADERBOARD", "GPU"} <= said.keys():
        raise TaskError(f"{path}: it defines LEADERBOARD, GPU and unpack(data)")
    behind = tree.body[0].end_lineno if ast.get_docstring(tree) is not None else 0
    changing = said.get("CHANGING")
    return Form(
        leaderboard=str(said["LEADERBOARD"]),
        gpu=str(said["GPU"]),
        changing=changing if isinstance(changing, tuple) else (),
        code="".join(text.splitlines(keepends=True)[behind:]).strip("\n"),
    )


def submission(kernel: KernelSource, task: Task) -> str:
    """The file's text; its first lines say how it is entered.

    It has the builds of all the task's shapes on hip. Raises TaskError as form_of() does, and
    Rejected: INVALID, or UNSUPPORTED for what has no place in such a file.
    """
    form = form_of(task)
    source = _source(kernel, task)
    for name in form.changing:
        if name in pinning(kernel):
            raise _unsupported(
                f"the kernel is compiled for each {name} alone, which differs from call to call "
                f"there; take {name} out of specialize"
            )
    text = _rendered("submission.py.j2", kernel, task, form=form, source=literal(source))
    _check_words(text, kernel)
    return text


def enter(form: Form, path: Path, mode: str) -> str:
    """The command that gives the file to the judge. mode: test, benchmark or leaderboard."""
    words = f"--gpu {form.gpu} --leaderboard {form.leaderboard} --mode {mode}"
    return f"popcorn-cli submit {words} {path}"


def literal(text: str) -> str:
    """Python that stands for the text: a raw string to be read where that is the same."""
    raw = f"r'''{text}'''"
    try:
        if ast.literal_eval(raw) == text:
            return raw
    except (SyntaxError, ValueError):
        pass
    return repr(text)


def _source(kernel: KernelSource, task: Task) -> str:
    """The header, and two functions beside it whose arguments are integers, or doubles."""
    header = cpp_header(kernel, task, BACKEND, hip_only=True)
    return _rendered("submission.hip.j2", kernel, task, header=header)


def _rendered(template: str, kernel: KernelSource, task: Task, **more: object) -> str:
    """With the names of arguments, then of all that a shape says, in the task's order."""
    fields = list(shape_fields(task))
    arguments = [argument.name for argument in task.arguments]
    kinds = {name: kind for kind, name, _ in fields if kind != "bool"}
    parameters = [f"int64_t {name}" for name in arguments]
    parameters += [
        f"{'double' if kind == 'double' else 'int64_t'} {name}" for name, kind in kinds.items()
    ]
    return (
        environment()
        .get_template(template)
        .render(
            kernel=kernel,
            task=task,
            name=header_name(kernel, task),
            fields=fields,
            arguments=arguments,
            sizes=list(kinds),
            parameters=", ".join(parameters),
            names=", ".join([*arguments, *kinds]),
            dtypes={one: dtype_code(one) for dtypes in task.dtypes.values() for one in dtypes},
            **more,
        )
    )


def _check_words(text: str, kernel: KernelSource) -> None:
    """Raises Rejected(UNSUPPORTED) where the judge would refuse the text for a word."""
    if REFUSED not in text.lower():
        return
    lines = kernel.code.splitlines()
    places = [kernel.code_line + i for i, line in enumerate(lines) if REFUSED in line.lower()]
    where = f"line {places[0]}" if places else f"the task's {FILE}"
    raise _unsupported(
        f"{where} has the word '{REFUSED}', and the judge takes no file that has it, in comments "
        "neither: write another"
    )


def _unsupported(reason: str) -> Rejected:
    return Rejected(Status.UNSUPPORTED, reason)


def _parsed(path: Path, text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise TaskError(f"{path}: it is not Python: {error}") from None


def _constants(tree: ast.Module) -> Iterator[tuple[str, object]]:
    """What the file's top level sets names to, as far as it is written out."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                try:
                    yield name, ast.literal_eval(value)
                except ValueError:
                    continue
