"""How much static LDS each entry of a compiled kernel takes."""

import re
from collections.abc import Sequence

from evaluators.cpu.fission import PREFIX
from evaluators.cpu.library import LibraryFacts
from evaluators.cpu.library_memory import LDS_PREFIX, without_zones
from evaluators.kernel.tokens import Token


def static_lds(kernels: Sequence[str], facts: LibraryFacts, words: Sequence[Token]) -> list[int]:
    """Bytes of static LDS by entry, as far as the compiler kept the variables.

    A variable of a __device__ function counts for every kernel; of a template kernel's
    instances the largest counts.
    """
    names = [name.split("<")[0].split("::")[-1].strip() for name in kernels]
    by_owner: dict[str, int] = {}  # "" owns what is declared outside of functions
    for variable in _shared_variables(words):
        plain, zoned = f"{len(variable)}{variable}", rf"\d+{LDS_PREFIX}\d+_{variable}"
        local = re.compile(rf"_ZZ(.*)E(?:{plain}|{zoned})(?:_\d+)?(?:\.\d+)*")
        outer = re.compile(rf"(?:_ZL?(?:{plain}|{zoned})|{variable})(?:\.\d+)*")
        for symbol, nbytes in facts.objects.items():
            if found := local.fullmatch(symbol) or outer.fullmatch(symbol):
                owner = found.group(1) if found.re is local else ""
                by_owner[owner] = by_owner.get(owner, 0) + without_zones(symbol, nbytes)
    kernel_owners = {
        name: [
            owner
            for owner in by_owner
            for own in (name, PREFIX + name)
            if f"{len(own)}{own}" in owner
        ]
        for name in names
    }
    taken = {owner for owners in kernel_owners.values() for owner in owners}
    common = sum(nbytes for owner, nbytes in by_owner.items() if owner not in taken)
    return [
        common + max((by_owner[owner] for owner in kernel_owners[name]), default=0)
        for name in names
    ]


def _shared_variables(words: Sequence[Token]) -> set[str]:
    """Names declared __shared__, other than extern ones."""
    found: set[str] = set()
    for i, token in enumerate(words):
        if token.text != "__shared__" or (i and words[i - 1].text == "extern"):
            continue
        for k in range(i + 1, len(words) - 1):
            if words[k].kind == "word" and words[k + 1].text in ("[", ";", ",", "="):
                found.add(words[k].text)
            if words[k].text == ";":
                break
    return found
