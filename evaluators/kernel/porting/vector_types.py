"""Vector types of one compiler that others ignore, and would compute other things with."""

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.tokens import tokens


def check_vector_types(normalised: str, first_line: int, compiler: str) -> None:
    """Raises Rejected(UNSUPPORTED) for vector types that only clang has: others ignore the word."""
    for token in tokens(normalised, first_line):
        if token.text.strip("_") == "ext_vector_type" or (
            token.kind == "directive" and "ext_vector_type" in token.text
        ):
            raise Rejected(
                Status.UNSUPPORTED,
                f"{compiler} has no ext_vector_type: use HIP's vectors, such as float4",
                line=token.line,
            )
