"""A probe file, or the shipped set, run by hand; their answers for a person or a script."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import IO, Any

from engine.cli.evaluate import read_kernel
from evaluators.device import Compiler, backend
from evaluators.evaluate import Opened, opened
from evaluators.evaluation import Rejected
from evaluators.measuring.evaluator import Evaluator
from evaluators.probes.kept import keep, kept
from evaluators.probes.probe import Answer, compile_probe
from evaluators.probes.shipped import shipped
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task_file import load_task

CARRIER = "sum_reduction"
"""An evaluator has a task; a probe does not ask which."""


def probe_file(arguments: Namespace, stream: IO[str]) -> bool:
    """Print the answer of arguments.file; whether it is one.

    Raises NoSuchKernel, BackendMissing, DeviceFault.
    """
    text = read_kernel(arguments.file)
    with _opened(arguments.backend) as evaluator:
        answer = _asked(evaluator, _compiler(evaluator, arguments.backend), text)
    print(_json(asdict(answer)) if arguments.json else "\n".join(_lines([answer])), file=stream)
    return answer.passed


def probe_shipped(arguments: Namespace, stream: IO[str]) -> bool:
    """Print what the shipped set tells; what is kept is not measured again, unless anew.

    Raises BackendMissing, DeviceFault.
    """
    with _opened(arguments.backend) as evaluator:
        info = evaluator.device.info
        known = {} if arguments.anew else kept(info)
        compiler = _compiler(evaluator, arguments.backend)
        answers = [
            known.get(probe.id) or _asked(evaluator, compiler, probe.text)
            for probe in shipped(info)
        ]
    print(
        _json([*map(asdict, answers)]) if arguments.json else "\n".join(_lines(answers)),
        file=stream,
    )
    try:
        keep(info, {one.probe_id: one for one in answers})
    except OSError as error:
        print(f"kernel-scientist: the answers are not kept ({error})", file=sys.stderr)
    return all(answer.passed for answer in answers)


def _opened(backend_name: str) -> Opened:
    return opened(load_task(CARRIER), backend_name)


def _compiler(evaluator: Evaluator | ChildEvaluator, backend_name: str) -> Compiler:
    return backend(backend_name).compiler(arch=evaluator.device.info.arch)


def _asked(evaluator: Evaluator | ChildEvaluator, compiler: Compiler, text: str) -> Answer:
    try:
        built = compile_probe(text, compiler, evaluator.device.info)
    except Rejected as rejected:
        return Answer.of_rejected(text, rejected)
    return evaluator.probe(built)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _lines(answers: Sequence[Answer]) -> Iterator[str]:
    for answer in answers:
        yield answer.question or f"probe {answer.probe_id}"
        if not answer.passed:
            yield f"  {answer.status}  {answer.reason}"
        yield from (f"  {sentence}" for sentence in answer.sentences)
