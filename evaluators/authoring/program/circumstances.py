"""Under which conditions, and how often, a program makes a launch."""

import re

from evaluators.authoring.program import terms
from evaluators.authoring.program.arguments import Bound
from evaluators.authoring.program.cpp import Node, node_text, parsed_expression
from evaluators.authoring.program.host import Frame
from evaluators.authoring.program.launches import Call, loop_variables
from evaluators.authoring.program.reading import Reader
from evaluators.authoring.program.terms import Num, Term, Unknown


def is_reached(call: Call, reader: Reader) -> bool:
    """Whether no condition round the launch is known to be false."""
    for text in call.conditions:
        node = parsed_expression(text)
        if node is not None and call.frame is not None:
            term = reader.term(node, call.frame)
            values = {n: s.value for n, s in reader.symbols.items() if s.value is not None}
            if terms.value(term, values) == 0:
                return False
    return True


def tell_circumstances(made: Bound, call: Call, frame: Frame, reader: Reader) -> None:
    """Loops and conditions round the launch."""
    line = reader.host.program.line(call.at)
    used = set(re.findall(r"[A-Za-z_]\w*", " ".join((*call.dims, *call.given))))
    turning = [loop for loop in call.loops if loop_variables(loop) & used]
    if len(turning) == 1 and (counted := _count(turning[0], frame, reader)) is not None:
        made.repeat = counted
    elif turning:
        names = sorted(set().union(*map(loop_variables, turning)) & used)
        made.unread.append(
            f"the launch in line {line} stands in a loop over {', '.join(names)}: write its "
            "passes as launches with when, or with repeat"
        )
    for text in call.conditions:
        node = parsed_expression(text)
        term = reader.term(node, frame) if node is not None else Unknown(text)
        if terms.unknown(term):
            made.unread.append(
                f"the launch in line {line} is made where {' '.join(text.split())}: say so "
                "with when, if a workload may be otherwise"
            )
        elif not isinstance(term, Num):
            made.when = term if made.when is None else terms.op("and", made.when, term)


def _count(loop: Node, frame: Frame, reader: Reader) -> tuple[str, Term] | None:
    """for (int i = 0; i < n; ++i): i and n."""
    first, condition = (loop.child_by_field_name(f) for f in ("initializer", "condition"))
    update = loop.child_by_field_name("update")
    if first is None or condition is None or update is None:
        return None
    begins = re.fullmatch(r"[\w:\s]*?(\w+)\s*=\s*0\s*;?", node_text(first).strip())
    if begins is None or not re.fullmatch(
        rf"(\+\+{begins[1]}|{begins[1]}\+\+)", node_text(update).strip()
    ):
        return None
    ends = re.fullmatch(rf"{begins[1]}\s*<\s*(.+)", node_text(condition).strip(), re.DOTALL)
    node = parsed_expression(ends[1]) if ends else None
    if node is None:
        return None
    count = reader.term(node, frame)
    return None if terms.unknown(count) else (begins[1], count)
