"""A task's own reference.py: its functions, called with what they take, and what they raise."""

import inspect
import keyword
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from evaluators import text_file
from evaluators.dtypes import DTYPES, is_floating
from evaluators.tasks.arguments import Argument, Array, TaskError

Function = Callable[..., Any]
FUNCTIONS = ("reference", "inputs", "check", "epilogue")


class Raised(Exception):
    """A function of reference.py raised. One clause: what, and the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceFile:
    """The functions that it has. path: of the file; check judges beside reference."""

    path: Path
    reference: Function | None
    inputs: Function | None
    check: Function | None
    epilogue: Function | None

    def call(self, function: Function, names: Mapping[str, Any], *given: Any) -> Any:
        """What the function returns for these names, as far as it takes them. Raises Raised.

        given: its first arguments, by position.
        """
        try:
            return function(*given, **_taken(function, names, len(given)))
        except Exception as error:  # the task's author may raise anything
            raise Raised(raised(error, self.path)) from error


def safe(name: str) -> str:
    """A name as an argument of a Python function."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _taken(function: Function, names: Mapping[str, Any], positional: int) -> dict[str, Any]:
    known = {safe(name): value for name, value in names.items()}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of no Python function
        return known
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return known
    taken = {one.name for one in parameters[positional:]}
    return {name: value for name, value in known.items() if name in taken}


def returned(results: Mapping[str, Any], name: str) -> Any:
    """Under the argument's name, or the one it has in Python; None where there is neither."""
    return results.get(name, results.get(safe(name)))


def as_array(value: Any, argument: Argument, where: str) -> Array:
    """Raises TaskError for what is no array of real numbers, or no integers where those are due."""
    name = argument.name
    try:
        result = np.asarray(value)
    except ValueError as error:
        raise TaskError(f"{where}: {name} is no array ({error})") from None
    integers = not is_floating(argument.np_dtype)
    own = not integers and result.dtype in DTYPES.values()  # bfloat16 is of no kind to numpy
    if result.dtype.kind not in ("biu" if integers else "biuf") and not own:
        wanted = "integers" if integers else "real numbers"
        raise TaskError(
            f"{where}: {name} has dtype {result.dtype}, but must hold {wanted}, as "
            f"task.yaml calls it {argument.dtype}"
        )
    return result


def raised(error: Exception, path: Path) -> str:
    """ "ValueError: shapes differ (line 7)": the last line of the file that took part."""
    said = (str(error).strip().splitlines() or [""])[0]
    steps = traceback.extract_tb(error.__traceback__)
    lines = [step.lineno for step in steps if step.filename == str(path)]
    line = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}{f': {said}' if said else ''}{line}"


def read_text(path: Path) -> str:
    """A file of a task. Raises TaskError."""
    try:
        return text_file.read_text(path)
    except UnicodeDecodeError:
        raise TaskError(f"{path}: it is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise TaskError(f"{path}: it can't be read: {error.strerror}") from None


_FILES: dict[tuple[Path, str], ReferenceFile] = {}


def load_reference(path: Path, text: str | None = None) -> ReferenceFile:
    """A task's own, trusted reference.py; run once per content. text: what it holds, where that
    has been read, so that a task stays as it was loaded. Raises TaskError."""
    if text is None:
        if not path.is_file():
            raise TaskError(
                f"{path}: no such file; every task needs a reference.py with "
                "reference(**inputs, **dims)"
            )
        text = read_text(path)
    key = (path, text)
    if key not in _FILES:
        _FILES[key] = _loaded(path, text)
    return _FILES[key]


def _loaded(path: Path, text: str) -> ReferenceFile:
    # Not by import: its cache takes a file of the same size and second for the same file.
    module = ModuleType(f"reference_of_{path.parent.name}")
    module.__file__ = str(path)
    try:
        exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
    except SyntaxError as error:
        raise TaskError(f"{path}, line {error.lineno}: {error.msg}") from None
    except ImportError as error:
        raise TaskError(f"{path}: {error}; install it beside this package") from None
    except Exception as error:  # the task's author may raise anything
        raise TaskError(f"{path}: it can't be imported: {raised(error, path)}") from error
    found: dict[str, Function | None] = {}
    for name in FUNCTIONS:
        found[name] = getattr(module, name, None)
        if found[name] is not None and not callable(found[name]):
            raise TaskError(f"{path}: {name} is no function")
    if found["reference"] is None and found["check"] is None:
        raise TaskError(f"{path}: has no function reference(**inputs, **dims)")
    return ReferenceFile(path=path, **found)
