"""emit(): the whole C++ unit of a translated kernel file, with the entries for the run child."""

from collections.abc import Sequence

from evaluators.cpu.emit import ENTRY, LDS_BYTES, SIGNATURE, Entry
from evaluators.cpu.fission.translate import block_name, translate


def emit(
    source: str,
    entries: Sequence[Entry],
    *,
    headers: Sequence[str],
    wavefront: int,
) -> str:
    """The C++ unit to compile; entry i is exported as ENTRY, its signature as SIGNATURE.

    Raises Rejected(UNSUPPORTED) for what this engine can't run.
    """
    own = translate(source, [entry.kernel for entry in entries])
    lines = [f"#define WAVEFRONT {wavefront}"]
    lines += [f"#include <{header}>" for header in headers]
    lines.append("#include <ks/fission.h>")
    lines.append(f"alignas(4096) static unsigned char ks_dynamic_lds[{LDS_BYTES}];")
    lines.append(own)
    lines.append('#line 1 "launches"')
    for i, entry in enumerate(entries):
        lines.append(f"""typedef KsFission<{block_name(entry.kernel, entry.block)}> KsKernel{i};
extern "C" {{
KS_EXPORT extern const KsSignature {SIGNATURE.format(i)} = KsKernel{i}::signature;
KS_EXPORT __attribute__((flatten)) void {ENTRY.format(i)}(const KsLaunch *launch) {{
    KsKernel{i}::run(launch, ks_dynamic_lds);
}}
}}""")
    return "\n".join(lines) + "\n"
