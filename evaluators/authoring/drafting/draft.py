"""A task as far as a kernel's file tells it: draft()."""

import keyword
import re
from collections.abc import Mapping, Sequence

from evaluators.authoring.drafting.arrays import make_arrays, name_memory
from evaluators.authoring.drafting.device_code import device_code, used_names, without_masks
from evaluators.authoring.drafting.elementwise import translated
from evaluators.authoring.drafting.guesses import guess_launches, name_unknown
from evaluators.authoring.drafting.model import Draft
from evaluators.authoring.drafting.selection import chosen_calls
from evaluators.authoring.drafting.sizes import classify
from evaluators.authoring.drafting.steps import make_steps, name_block, tunable
from evaluators.authoring.drafting.summary import tell
from evaluators.authoring.drafting.workloads import find_steps
from evaluators.authoring.program.arguments import Bound, pointers, scalars
from evaluators.authoring.program.binding import Binder
from evaluators.authoring.program.cpp import Program
from evaluators.authoring.program.host import Host
from evaluators.authoring.program.launches import Call, calls_of
from evaluators.authoring.program.terms import Sym


def draft(text: str, source: str, kernels: Sequence[str] = (), *, masks: bool = False) -> Draft:
    """Of a program's text. kernels: which to take, by default the ones that belong together.

    masks: rewrite __shfl_*_sync without masks. Raises TaskError: no kernel, or several problems.
    """
    host = Host(Program(text))
    calls = chosen_calls(host, calls_of(host), kernels, source)
    binder = Binder(host)
    bounds = [
        binder.bound(one) if isinstance(one, Call) else binder.unlaunched(one) for one in calls
    ]
    taken = list(dict.fromkeys(bound.signature.item.name for bound in bounds))
    words = used_names(host, [*taken, *_template_words(bounds)])
    says: list[str] = []
    name_unknown(bounds, binder, says)
    sizes = classify(bounds, binder.reader, words)
    guess_launches(bounds, sizes, says)
    code = device_code(host, taken, words, sizes.gone)
    name_block(bounds, sizes, code)
    names = name_memory(bounds)
    copies = binder.buffers.copies
    find_steps(bounds, sizes)
    arrays, scratch = make_arrays(bounds, names, sizes, says, copies=copies)
    steps = make_steps(bounds, names, arrays, scratch, says)
    changed = 0
    if masks:
        code, changed = without_masks(code)
    made = Draft(
        source=source,
        sizes=sizes,
        arrays=arrays,
        scratch=scratch,
        steps=steps,
        code=code,
        kernels=taken,
        space=tunable(bounds, sizes, code),
        says=says,
        understood=[],
    )
    made.body = _body(made, bounds, names, host)
    tell(made, host, changed)
    return made


def _body(
    made: Draft, bounds: Sequence[Bound], names: Mapping[str, str], host: Host
) -> dict[str, str]:
    """What an elementwise kernel makes of each output, in numpy."""
    (bound,) = bounds if len(bounds) == 1 else (None,)
    if bound is None or bound.repeat or bound.when or len({str(a.shape) for a in made.arrays}) > 1:
        return {}
    arrays = {
        one.parameter.name: names[one.memory.key]
        for one in pointers(bound.arguments)
        if one.element.dtype in ("float32", "float64") and one.element.count == 1
    }
    attributes = {
        one.name: one.term.name
        for one in scalars(bound.arguments)
        if isinstance(one.term, Sym) and one.element.dtype in ("float32", "float64")
    }
    if keyword.iskeyword("".join(arrays.values())):
        return {}
    found = translated(bound.signature.item, arrays, attributes, host.device)
    if found is None or set(found) != {one.name for one in made.outputs}:
        return {}
    return found


def _template_words(bounds: Sequence[Bound]) -> list[str]:
    texts = [t for bound in bounds for t in bound.templates if isinstance(t, str)]
    return [word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)]
