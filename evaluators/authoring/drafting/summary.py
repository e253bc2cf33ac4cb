"""What a draft understood of a program, and what only a person can say."""

import re

from evaluators.authoring.drafting.model import Draft
from evaluators.authoring.program import terms
from evaluators.authoring.program.host import Host


def tell(made: Draft, host: Host, changed: int) -> None:
    told = made.understood
    told.append(f"kernels: {', '.join(made.kernels)}")
    if made.sizes.dims:
        told.append(
            "dims: "
            + ", ".join(
                name if value is None else f"{name} ({value} in the program)"
                for name, value in made.sizes.dims.items()
            )
        )
    if made.sizes.attributes:
        told.append(
            "attributes: "
            + ", ".join(
                f"{name} = {str(value).lower() if isinstance(value, bool) else value}"
                for name, value in made.sizes.attributes.items()
            )
        )
    if made.sizes.params:
        told.append("params: " + ", ".join(f"{k} = {v}" for k, v in made.sizes.params.items()))
    for name, step in made.sizes.steps.items():
        told.append(f"{name} is a multiple of {step}: the program divides by it or checks no bound")
    for one in made.arrays:
        shape = ", ".join(map(terms.written, one.shape))
        told.append(f"{one.role} {one.name}: {one.dtype} [{shape}]")
    for name, nbytes in made.scratch.items():
        told.append(f"scratch {name}: {nbytes} bytes")
    if changed:
        told.append(f"{changed} shuffles without their masks, over 32 lanes as before")
    for name in sorted(made.sizes.guessed):
        made.says.append(f"{name}: its default {made.sizes.attributes[name]} is a guess")
    masked = re.search(r"__\w+_sync\s*\(\s*(?:0[xX]f{8}\b|0[xX]F{8}\b|-1|~0|\w*MASK\w*)", made.code)
    if masked and not changed:
        made.says.append(
            "its shuffles have masks of 32 lanes, which an MI300 refuses: run new-task again with "
            "--masks to have them rewritten, or do it by hand"
        )
    constants = [
        i.name
        for i in host.items
        if i.kind == "variable"
        and i.name in made.code
        and (host.program.marked(i.start, i.end, "__constant__"))
    ]
    for name in constants:
        made.says.append(
            f"{name}: a __constant__ that the host sets can't be set here: make it an argument of "
            "the kernel"
        )
    if left := _own_includes(host):
        made.says.append(
            f"{', '.join(left)}: left out; copy into the seed what the kernel uses from there"
        )


def _own_includes(host: Host) -> list[str]:
    found = []
    for one in host.program.directives:
        raw = host.program.data[one.start : one.end].decode()
        name = re.search(r'"([^"]+)"', raw) if one.word == "include" else None
        if name is not None and not re.match(r"(hip|cuda|std|cooperative|math)", name[1]):
            found.append(name[1])
    return found
