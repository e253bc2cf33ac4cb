"""Why compilers leave a loop as it is, in the words of whoever writes kernels, and what to try."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """why: ends "is not vectorised: ..."; remedy: what to try."""

    why: str
    remedy: str


_NESTED = re.compile(
    r"multiple nested loops|loop nest containing|inner-loop count|not the innermost"
)
"""The compiler speaks of a loop round others, which are what matters."""

_CAUSES = tuple(
    (re.compile(pattern, re.IGNORECASE), Cause(why, remedy))
    for pattern, why, remedy in (
        (
            r"volatile",
            "it accesses volatile memory",
            "drop volatile where no other thread writes",
        ),
        (
            r"function is not vectorizable|call instruction cannot be vectorized"
            r"|function calls? .*cannot be vectorized",
            "it calls a function that has no vector form",
            "expf, logf, tanhf, sqrtf, fminf and fmaxf have one; write others out as a polynomial",
        ),
        (
            r"number of iterations cannot be computed|number of loop iterations|uncountable",
            "its number of iterations isn't known when it begins",
            "count an int up to a bound that stays the same, without break",
        ),
        (
            r"control flow in loop|control flow is not understood|early exit|multiple exits",
            "an if, a break or a loop of unknown length inside changes its course",
            "choose values with ?: or fminf and fmaxf, and treat edges in a loop of their own",
        ),
        (
            r"not vectorized, possible dependence|bad data dependence|unsafe dependent memory"
            r"|cannot identify array bounds|cannot check memory dependencies",
            "an iteration might read or overwrite what another one writes",
            "mark pointers __restrict__, collect in a local array, store it behind the loop",
        ),
        (
            r"unexpected pattern|Unsupported pattern|def-use cycle|unsupported use in stmt"
            r"|not be identified as reduction|reorder floating-point|in-order unchained",
            "each iteration needs the one before (a largest element, a sum in order)",
            "keep 16 in a local array, with a loop over it inside, and join them at the end",
        ),
        (
            r"data references that cannot be analyzed|more than one data ref in stmt",
            "it copies a struct as a whole, or calls a function that isn't inlined",
            "keep the members in arrays of floats of their own",
        ),
        (
            r"masked emulated|access type for masked|(?:failed:?|load|store) \S*(?: = )?\.MASK_",
            "it loads or stores under a condition, where the addresses lie apart",
            "walk neighbouring elements, or load from clamped addresses and choose with ?:",
        ),
        (
            r"single-element interleaving|not suitable for (?:strided|gather|scatter)"
            r"|emulated (?:gather|scatter)|complicated access pattern|not falling back"
            r"|data ref analysis failed|access evolution|not consecutive",
            "its accesses lie apart in memory",
            "swap loops so that the inner one walks neighbouring elements, or copy these first",
        ),
        (
            r"not profitable|never be profitable|not beneficial|too small|not be worthwhile",
            "the compiler expects no gain: few iterations, or elements that lie apart",
            "make it long (16 iterations or more) over neighbouring elements",
        ),
        (
            r"(?<!reduc )op not supported|conversion not supported|relevant stmt not supported"
            r"|no vectype|unsupported data-type|cannot be vectorized|relevant phi",
            "an operation or type in it has no vector form on this processor",
            "use float and 32-bit integers, shifts and masks in the place of / and %",
        ),
    )
)
_UNKNOWN = Cause("the compiler can't follow it", "make it a plain for over an int and local arrays")

ORDERED = re.compile(r"reduc op not supported by target")
"""g++ vectorises such a loop, but adds up its elements one after the other."""


def cause(said: str) -> Cause | None:
    """Of a loop that was missed; None where what counts is a loop inside."""
    if _NESTED.search(said):
        return None
    return next((one for pattern, one in _CAUSES if pattern.search(said)), _UNKNOWN)
