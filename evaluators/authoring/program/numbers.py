"""Numbers as C++ writes them."""

import re

from evaluators.authoring.program.terms import Num, Term, Unknown

_NUMBER = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)(?:[uU]?[lL]{0,2}|[lL]{0,2}[uU]?|z|uz)"
)
DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fFlL]?|\d+[fF]")


def number(text: str) -> Term:
    plain = text.replace("'", "")
    if _NUMBER.fullmatch(plain):
        digits = plain.rstrip("uUlLz")
        if re.fullmatch(r"0[0-7]+", digits):
            return Num(int(digits, 8))
        return Num(int(digits, 0))
    if DECIMAL.fullmatch(plain):
        return Num(float(plain.rstrip("fFlL")))
    return Unknown(text)
