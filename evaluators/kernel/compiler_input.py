"""What a compiler is given of a kernel file: headers, then parameters, then the normalised text."""

from collections.abc import Sequence

from evaluators.kernel.plan import Defines
from evaluators.kernel.porting.headers import cuda_names, without_includes
from evaluators.kernel.porting.library_names import set_apart
from evaluators.kernel.printing import GUARDS
from evaluators.kernel.source import KernelSource
from evaluators.kernel.tokens import KERNEL_FILE


def compiler_input(
    kernel: KernelSource, headers: Sequence[str], defines: Defines, guards: Sequence[str] = ()
) -> str:
    """Parameters are macros behind the vendor's headers, which may use their names otherwise.

    headers: those that the kernel needs; it includes nothing itself any more. guards: lines ahead
    of its own. Raises Rejected(INVALID) for text that can't be normalised.
    """
    text = set_apart(kernel.normalised).text
    included = dict.fromkeys(("hip/hip_runtime.h", *headers))
    return "\n".join(
        [
            *(f"#include <{header}>" for header in included),
            *(f"#undef {name}\n#define {name} {own}" for name, own in cuda_names(text)),
            *(f"#define {name} {value}" for name, value in defines),
            *GUARDS,
            *guards,
            f'#line {kernel.code_line} "{KERNEL_FILE}"',
            without_includes(text),
        ]
    )
